package agent

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// guard calls f on a goroutine of its own, so that a panic in it becomes an
// error and a call that does not heed its context can't hold the loop. What f
// returns after that is dropped. limit 0 means no limit.
func guard[T any](ctx context.Context, limit time.Duration, f func(context.Context) (T, error)) (T, error) {
	return guardWith(ctx, limit, nil, f)
}

// guardWith does meanwhile, on the goroutine of its caller, what comes in over errands.
func guardWith[T any](ctx context.Context, limit time.Duration, errands <-chan func(), f func(context.Context) (T, error)) (T, error) {
	type outcome struct {
		value T
		err   error
	}
	if ctx.Err() != nil { // nothing is begun after a cancel
		var none T
		return none, context.Cause(ctx)
	}
	if limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, limit, timeoutError{limit})
		defer cancel()
	}
	ended := make(chan outcome, 1)
	go func() {
		var o outcome
		defer func() {
			if p := recover(); p != nil {
				o.err = fmt.Errorf("it crashed, which is a bug in it: %v", p)
			}
			ended <- o
		}()
		o.value, o.err = f(ctx)
	}()
	var o outcome
	for waiting := true; waiting; {
		select {
		case o = <-ended:
			waiting = false
		case do := <-errands:
			do()
		case <-ctx.Done():
			waiting = false
			select {
			case o = <-ended: // it ended at the same moment
			default:
				o.err = ctx.Err()
			}
		}
	}
	if ctx.Err() != nil && errors.Is(o.err, ctx.Err()) {
		o.err = context.Cause(ctx) // which says whether it was the limit
	}
	return o.value, o.err
}

type timeoutError struct{ limit time.Duration }

func (e timeoutError) Error() string {
	return fmt.Sprintf("it was stopped after its time limit of %v", e.limit)
}
