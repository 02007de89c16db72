// Package routers registers the webhook handler in chi, Gin, Echo and Fiber. In each function,
// hook is the result of webhook.NewHandler, and verified is the result of webhook.Middleware.
package routers

import (
	"net/http"

	"github.com/gin-gonic/gin"
	"github.com/go-chi/chi/v5"
	"github.com/gofiber/fiber/v3"
	"github.com/gofiber/fiber/v3/middleware/adaptor"
	recoverer "github.com/gofiber/fiber/v3/middleware/recover"
	"github.com/labstack/echo/v4"
)

func withChi(r chi.Router, hook http.Handler) {
	r.Handle("/hook", hook)
}

func withGin(r gin.IRouter, hook http.Handler) {
	r.POST("/hook", gin.WrapH(hook))
}

func withEcho(e *echo.Echo, hook http.Handler) {
	e.POST("/hook", echo.WrapHandler(hook))
}

func withFiber(app *fiber.App, hook http.Handler) {
	app.Post("/hook", recoverer.New(), adaptor.HTTPHandler(hook))
}

func chiMiddleware(r chi.Router, verified func(http.Handler) http.Handler, handle http.HandlerFunc) {
	r.With(verified).Post("/hook", handle)
}

func echoMiddleware(e *echo.Echo, verified func(http.Handler) http.Handler, handle echo.HandlerFunc) {
	e.POST("/hook", handle, echo.WrapMiddleware(verified))
}

func ginMiddleware(verified func(http.Handler) http.Handler) gin.HandlerFunc {
	return func(c *gin.Context) {
		ok := false
		verified(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			ok, c.Request = true, r
			c.Next()
		})).ServeHTTP(c.Writer, c.Request)
		if !ok {
			c.Abort() // otherwise, Gin calls the next handler
		}
	}
}
