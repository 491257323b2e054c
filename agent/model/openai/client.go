package openai

import (
	"context"
	"net/http"
	"strings"

	"github.com/openai/openai-go/v3/option"
	sdk "github.com/openai/openai-go/v3/responses"
)

// client sends requests through openai-go. It is that of the Responses API alone, which
// sends those of others too, to their own path: openai-go's whole client makes the
// program 13 MB larger, and each first build of it a minute longer, for the types of
// APIs that nobody asks here.
type client struct{ service sdk.ResponseService }

// post sends a body that is encoded.
func (c client) post(ctx context.Context, path string, body []byte, check option.Middleware) (*http.Response, error) {
	var res *http.Response
	_, err := c.service.New(ctx, sdk.ResponseNewParams{}, option.WithRequestBody("application/json", body),
		option.WithResponseBodyInto(&res), option.WithMiddleware(to(path), check))
	return res, err
}

func (c client) get(ctx context.Context, path string, check option.Middleware) (*http.Response, error) {
	var res *http.Response
	_, err := c.service.Get(ctx, path, sdk.ResponseGetParams{}, option.WithResponseBodyInto(&res), option.WithMiddleware(to(path), check))
	return res, err
}

// to puts a path in the place of that of the Responses API.
func to(path string) option.Middleware {
	return func(req *http.Request, next option.MiddlewareNext) (*http.Response, error) {
		for _, p := range []*string{&req.URL.Path, &req.URL.RawPath} { // the second is "", or the same escaped
			if at := strings.LastIndex(*p, "/responses"); at >= 0 {
				*p = (*p)[:at+1] + path
			}
		}
		return next(req)
	}
}
