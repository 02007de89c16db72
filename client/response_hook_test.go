package client

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestResponseHook(t *testing.T) {
	c := newTestClient(t, respondWith(200, "application/json", `{"webhook_id":"1","secret":"`+testToken+`","new":1}`))
	var got []Response
	ctx := WithResponseHook(t.Context(), func(r Response) { got = append(got, r) })
	wh, err := c.Webhooks.Get(ctx, "1")
	require.NoError(t, err)
	require.Equal(t, testToken, wh.Secret.Reveal())
	if len(got) != 1 || got[0].Op != "getWebhook" || got[0].StatusCode != 200 || got[0].RequestID != "req-1" || !bytes.Contains(got[0].Body, []byte(`"new":1`)) ||
		fmt.Sprint(got[0]) != "client.Response{getWebhook: 200, attempt 1, request req-1}" {
		t.Errorf("WithResponseHook saw %+v", got)
	}
	if hidesToken(t, got[0], wh); !strings.Contains(fmt.Sprintf("%+v", wh), "ID:1 ") {
		t.Errorf("%+v does not contain the id of the webhook", wh)
	}
}
