package gateway

// Token is an access token and whose it is. Requests with it act for the user
// and see the account's resources alone.
type Token struct {
	// Token is the secret text that requests carry; DefaultToken if empty.
	Token string
	// UserID and UserEmail name the user, as events do. Zero values are 1 and
	// "user@example.com".
	UserID    int64
	UserEmail string
	// AccountID is the account; 1 if zero.
	AccountID int64
	// ReadOnly refuses everything but reading with 403.
	ReadOnly bool
}

// Tokens fills in what is left out.
func Tokens(given []Token, usual string) []Token {
	if len(given) == 0 {
		given = []Token{{}}
	}
	out := make([]Token, len(given))
	for i, t := range given {
		if t.Token == "" {
			t.Token = usual
		}
		if t.UserID == 0 {
			t.UserID = 1
		}
		if t.UserEmail == "" {
			t.UserEmail = "user@example.com"
		}
		if t.AccountID == 0 {
			t.AccountID = 1
		}
		out[i] = t
	}
	return out
}
