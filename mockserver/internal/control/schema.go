package control

import (
	"math"
	"reflect"
	"sync"

	"example.com/emailplatform/events"
	"example.com/emailplatform/mockserver/internal/activity"
	"example.com/emailplatform/mockserver/internal/clock"
	"example.com/emailplatform/mockserver/internal/contract"
	"example.com/emailplatform/mockserver/internal/delivery"
	"example.com/emailplatform/mockserver/internal/fault"
	"example.com/emailplatform/mockserver/internal/gateway"
	"example.com/emailplatform/mockserver/internal/platform"
	"example.com/emailplatform/mockserver/internal/schema"
	"example.com/emailplatform/mockserver/model"
	"example.com/emailplatform/webhook"
)

// names contains the names of types in the OpenAPI document. A type has a name if
// several routes return it.
func names() map[reflect.Type]string {
	return map[reflect.Type]string{
		reflect.TypeFor[platform.MessageDetails](): "Message",
		reflect.TypeFor[platform.MessageSummary](): "MessageSummary",
		reflect.TypeFor[delivery.Details]():        "Delivery",
		reflect.TypeFor[delivery.Summary]():        "DeliverySummary",
		reflect.TypeFor[delivery.AttemptJSON]():    "Attempt",
		reflect.TypeFor[model.FiredEvent]():        "Event",
		reflect.TypeFor[delivery.EventSummary]():   "EventSummary",
		reflect.TypeFor[gateway.RequestDetails]():  "Request",
		reflect.TypeFor[gateway.RequestSummary]():  "RequestSummary",
		reflect.TypeFor[fault.RuleJSON]():          "FaultRule",
		reflect.TypeFor[model.Sample]():            "Sample",
		platform.StateType():                       "State",
	}
}

// types describes the Go types of request and response bodies.
var types = sync.OnceValue(func() schema.Types {
	known := names()
	return schema.Types{Name: func(t reflect.Type) string { return known[t] }, Enums: map[reflect.Type][]string{
		reflect.TypeFor[model.DeliveryState]():   schema.Texts(delivery.States()),
		reflect.TypeFor[activity.WaitReason]():   schema.Texts(activity.WaitReasons()),
		reflect.TypeFor[events.SendingType]():    schema.Texts(sendingTypes()),
		reflect.TypeFor[events.BounceCategory](): schema.Texts(events.BounceCategories()),
		reflect.TypeFor[model.FaultAction]():     schema.Texts(fault.ActionNames()),
		reflect.TypeFor[webhook.HashFunction]():  {string(webhook.SHA256), string(webhook.SHA512)},
		reflect.TypeFor[platform.LookupLimit]():  platform.LookupLimits(),
		reflect.TypeFor[waitKind]():              {"message", "delivery", "request", "event"},
		reflect.TypeFor[messageAction](): {
			"bounce", "complain", "open", "click", "unsubscribe", "global-unsubscribe", "confirm", "delete", "restore",
		},
		reflect.TypeFor[contactAction](): {"unsubscribe", "delete"},
	}, Own: map[reflect.Type]contract.Schema{
		reflect.TypeFor[clock.Milliseconds]():     {Kind: contract.Number},
		reflect.TypeFor[platform.ContactCounts](): platform.ContactCountsSchema(),
		reflect.TypeFor[stringOrInt]():            {OneOf: []*contract.Schema{{Kind: contract.String}, {Kind: contract.Integer, Min: math.MinInt64}}},
	}}
})

func requestOf(t reflect.Type) *contract.Schema {
	if t == reflect.TypeFor[fault.JSON]() {
		return fault.Schema()
	}
	o := types()
	o.Request = true
	return o.Of(t)
}

func sendingTypes() []events.SendingType {
	return []events.SendingType{
		events.SendingTypeCampaign, events.SendingTypeWorkflow, events.SendingTypeTransactional, events.SendingTypeEmailAPI,
	}
}
