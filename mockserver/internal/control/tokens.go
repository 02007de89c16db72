package control

import (
	"net/http"

	"example.com/emailplatform/mockserver/internal/problem"
)

// tokenRoutes are about who may ask the API.
func (c *Control) tokenRoutes() []route {
	return []route{{
		pattern: "POST tokens/revoke",
		does: "Makes an access token unknown: whoever uses it from now on gets 401. A reset brings the tokens of the " +
			"configuration and the start back. Seeds add tokens.",
		handler: taking(c.revokeToken),
		example: example{body: `{"token":"dev-token"}`},
	}}
}

type tokenBody struct {
	Token string `json:"token" means:"the access token that ends"`
}

func (c *Control) revokeToken(_ *request, in tokenBody) (nothing, error) {
	if !c.Access.Revoke(in.Token) {
		return nothing{}, problem.New(http.StatusNotFound, "not_found", "there is no such token", "body", "token")
	}
	return nothing{}, nil
}
