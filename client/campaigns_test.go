package client

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestWaitForCampaign: Wait reads the status after pauses of 1, 2, 4, … seconds, up to 30 s.
func TestWaitForCampaign(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start, looks := time.Now(), []int{}
		c := newBubbleClient(t, func(*http.Request) (*http.Response, error) {
			looks = append(looks, int(time.Since(start).Round(time.Second)/time.Second))
			status := CampaignStatusScheduled
			switch {
			case len(looks) > 7:
				status = CampaignStatusDelivered
			case len(looks) > 6:
				status = CampaignStatusDelivering
			}
			return respond(200, fmt.Sprintf(`{"campaign_id": 7, "status": %q}`, status)), nil
		})
		campaign, err := c.Campaigns.Wait(t.Context(), 7, Campaign.Settled)
		want := []int{0, 1, 3, 7, 15, 31, 61, 91}
		if err != nil || campaign.Status != CampaignStatusDelivered || !slices.Equal(looks, want) {
			t.Errorf("got %q, %v, looked after %v seconds, want %v", campaign.Status, err, looks, want)
		}
	})
}

func TestWaitForCampaignEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newBubbleClient(t, inOrder(respond(200, `{"campaign_id": 7, "status": "incomplete"}`), respond(404, `{}`)))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second/2)
		defer cancel()
		campaign, err := c.Campaigns.Wait(ctx, 7, Campaign.Settled)
		_, own := errors.AsType[*Error](err)
		require.True(t, own, "when the context ends")
		assert.ErrorIs(t, err, context.DeadlineExceeded, "when the context ends")
		assert.Equal(t, CampaignStatusIncomplete, campaign.Status, "when the context ends")
		if _, err = c.Campaigns.Wait(t.Context(), 7, Campaign.Settled); !errors.Is(err, ErrNotFound) {
			t.Errorf("when a look fails: %v", err)
		}
	})
}

func TestCampaignSettled(t *testing.T) {
	for status, want := range map[CampaignStatus]bool{
		"": false, CampaignStatusIncomplete: false, CampaignStatusScheduled: false, CampaignStatusDelivering: false,
		CampaignStatusDelivered: true, "canceled": true,
	} {
		assert.Equal(t, want, (Campaign{Status: status}).Settled(), "campaign %q", status)
	}
}

// TestScheduleLimits: Schedule rejects a zero time, because the request would omit scheduled_for, and the
// platform would send the campaign immediately. It also rejects times after the year 9999.
func TestScheduleLimits(t *testing.T) {
	requests := 0
	c := newBubbleClient(t, func(*http.Request) (*http.Response, error) {
		requests++
		return respond(200, `{"campaign_id":7,"status":"delivering","scheduled_for":253402300799}`), nil
	})
	for _, at := range []time.Time{{}, time.Unix(0, 0), time.UnixMilli(999), time.Unix(-1, 0), time.Unix(maxUnix+1, 0)} {
		if _, err := c.Campaigns.Schedule(t.Context(), 7, at); !errors.Is(err, ErrValidation) {
			t.Errorf("at %v: got %v, want ErrValidation", at, err)
		}
	}
	for _, at := range []time.Time{time.Unix(1, 0), time.Unix(maxUnix, 0)} {
		_, err := c.Campaigns.Schedule(t.Context(), 7, at)
		require.NoError(t, err, "at %v", at)
	}
	assert.Equal(t, 2, requests)
}
