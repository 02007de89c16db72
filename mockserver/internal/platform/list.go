package platform

import (
	"fmt"

	"example.com/emailplatform/mockserver/internal/api"
	"example.com/emailplatform/mockserver/internal/apierror"
)

type list struct {
	api.List

	contacts *contactTable
}

func (l *list) toAPI() api.List { return l.List }

// mayBeSentTo returns an error if the list's anti-spam policy is not accepted
// (specification, "States and transitions", "Errors").
func (l *list) mayBeSentTo(loc ...any) error {
	if l.PolicyAccepted {
		return nil
	}
	return apierror.Conflict("policy_not_accepted", fmt.Sprintf("the anti-spam policy of list %d has not been accepted", l.ListID), loc...)
}
