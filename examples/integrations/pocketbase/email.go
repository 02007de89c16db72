package main

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pocketbase/dbx"
	"github.com/pocketbase/pocketbase/apis"
	"github.com/pocketbase/pocketbase/core"
	"github.com/pocketbase/pocketbase/tools/mailer"

	"example.com/emailplatform/client"
	"example.com/emailplatform/contrib/sqlstore"
	"example.com/emailplatform/mailroom"
)

const hookPath = "/api/email-events"

// service is PocketBase's mailer, and confirms the records of the collection "orders".
type service struct {
	app  core.App
	room *mailroom.Room
}

// register sends the app's emails through the platform, which reaches the app at publicURL.
func register(app core.App, cfg client.Config, publicURL string) (s *service, err error) {
	cfg.Logger = cmp.Or(cfg.Logger, app.Logger())
	c, err := client.New(cfg)
	if err != nil {
		return nil, err
	}
	s = &service{app: app}
	opts := mailroom.Options{URL: publicURL + hookPath, List: "Transactional", OnNotice: s.notice, Logger: app.Logger()}
	if s.room, err = mailroom.New(c, store{app}, opts); err != nil {
		return nil, err
	}
	app.OnMailerSend().BindFunc(func(e *core.MailerEvent) error {
		e.Mailer = &service{e.App, s.room}
		return e.Next()
	})
	app.OnRecordCreateExecute("orders").BindFunc(func(e *core.RecordEvent) error {
		return e.App.RunInTransaction(func(tx core.App) error { // the order and its email, or neither
			e.App = tx
			if err := e.Next(); err != nil {
				return err
			}
			return s.room.Enqueue(with(e.Context, tx), e.Record.Id, s.email(
				e.Record.GetString("email"), "Your order "+e.Record.Id, "", "Thank you for "+e.Record.GetString("product")+"."))
		})
	})
	app.OnServe().BindFunc(func(e *core.ServeEvent) error {
		if _, err := app.DB().NewQuery(sqlstore.SQLite.Schema()).Execute(); err != nil {
			return err
		}
		e.Router.POST(hookPath, apis.WrapStdHandler(s.room))
		s.room.Start()
		return e.Next()
	})
	app.OnTerminate().BindFunc(func(e *core.TerminateEvent) error {
		return errors.Join(s.room.Close(), e.Next())
	})
	return s, nil
}

func (s *service) email(to, subject, html, text string) client.EmailSubmission {
	meta := s.app.Settings().Meta
	return client.EmailSubmission{
		To:      to,
		Sender:  client.Sender{Name: meta.SenderName, Email: meta.SenderAddress},
		Content: client.EmailContent{Type: client.EmailTypeTransactional, Subject: subject, HTML: html, Text: text},
	}.Literal()
}

// Send implements mailer.Mailer: one email for each recipient. If the app calls Send in a
// transaction, Send reads the suppression list in this transaction, because a second transaction
// would wait forever.
func (s *service) Send(m *mailer.Message) (err error) {
	if len(m.Attachments)+len(m.InlineAttachments)+len(m.Headers) > 0 {
		return errors.New("email: the platform supports no attachments and no headers")
	}
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second) // Send has no context
	defer cancel()
	if s.app.IsTransactional() {
		ctx = with(ctx, s.app)
	}
	for _, to := range slices.Concat(m.To, m.Cc, m.Bcc) {
		if _, failed := s.room.Send(ctx, s.email(to.Address, m.Subject, m.HTML, m.Text)); failed != nil {
			err = errors.Join(err, fmt.Errorf("to %s: %w", to.Address, failed))
		}
	}
	return err
}

// notice stores the outcome of an email in the record of its order. If a recipient unsubscribes,
// notice stores this in the record of the user. It uses the transaction in ctx.
func (*service) notice(ctx context.Context, n mailroom.Notice) (err error) {
	tx, _ := ctx.Value(txKey{}).(core.App)
	var record *core.Record
	switch {
	case n.Key != "" && n.Reason.Outcome():
		if record, err = tx.FindRecordById("orders", n.Key); err == nil {
			record.Set("mail_state", n.Reason)
			record.Set("mail_id", n.EmailID)
			err = tx.Save(record)
		}
	case n.Reason == mailroom.Unsubscribed:
		if record, err = tx.FindAuthRecordByEmail("users", n.Address); err == nil {
			record.Set("newsletter", false)
			err = tx.SaveNoValidate(record)
		}
	}
	if errors.Is(err, sql.ErrNoRows) { // deleted in the meantime, or not a user
		return nil
	}
	return err
}

// store is a mailroom.Store in PocketBase's transactions.
type store struct{ app core.App }

type txKey struct{}

func (s store) Update(ctx context.Context, fn func(ctx context.Context, tx mailroom.Tx) error) error {
	if tx, ok := ctx.Value(txKey{}).(core.App); ok {
		return fn(ctx, items(tx))
	}
	return s.app.RunInTransaction(func(tx core.App) error {
		return errors.Join(fn(with(ctx, tx), items(tx)), ctx.Err())
	})
}

func (store) AfterCommit(ctx context.Context, f func()) {
	if tx, ok := ctx.Value(txKey{}).(core.App); ok {
		tx.TxInfo().OnComplete(func(err error) error {
			if err == nil {
				f()
			}
			return nil
		})
	}
}

func with(ctx context.Context, tx core.App) context.Context {
	return context.WithValue(ctx, txKey{}, tx)
}

func items(tx core.App) mailroom.Tx {
	return sqlstore.SQLite.Tx(func(ctx context.Context, text string, args ...any) (sqlstore.Rows, error) {
		params := dbx.Params{}
		for i, arg := range args { // dbx has named parameters
			n := strconv.Itoa(i + 1)
			text, params["p"+n] = strings.Replace(text, "$"+n, "{:p"+n+"}", 1), arg
		}
		return tx.DB().NewQuery(text).WithContext(ctx).Bind(params).Rows()
	})
}
