package openai

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// retryAfter is how long the server asks to wait. A date is taken relative to
// the server's own clock where it shows it, since ours may differ.
func retryAfter(h http.Header) time.Duration {
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil {
		return wait(ms, time.Millisecond)
	}
	value := h.Get("Retry-After")
	if seconds, err := strconv.ParseFloat(value, 64); err == nil {
		return wait(seconds, time.Second)
	}
	until, err := http.ParseTime(value)
	if err != nil {
		return 0
	}
	return wait(until.Sub(clock(h)).Seconds(), time.Second)
}

func clock(h http.Header) time.Time {
	now, err := http.ParseTime(h.Get("Date"))
	if err != nil {
		return time.Now()
	}
	return now
}

// wait bounds what a server may ask for to a day; NaN and negative numbers are 0.
func wait(n float64, unit time.Duration) time.Duration {
	const most = 24 * time.Hour
	if !(n > 0) {
		return 0
	}
	if n > float64(most/unit) {
		return most
	}
	return time.Duration(n * float64(unit))
}

const spanForm = `(?:\d+(?:\.\d+)?\s*(?:milliseconds?|ms|seconds?|secs?|s|minutes?|mins?|m|hours?|hrs?|h|days?|d)\b[\s,]*(?:and\s+)?)+|(?:\d+(?:\.\d+)?(?:ms|h|m|s))+\b`

var (
	asked    = lazy(`(?i)\b(?:try|retry|retrying|wait|resets?)\b[a-z ]{0,40}?\s(` + spanForm + `)`)
	askedIn  = lazy(`(?i)\bretry[ -]after:?\s+(\d+(?:\.\d+)?)(?:[\s.,;]|$)`)
	spanPart = lazy(`(?i)(\d+(?:\.\d+)?)\s*(ms|milli|s|m|h|d)`)
)

// span reads a time such as 6m0s, 20ms, 1 minute 30 seconds, or a number of seconds.
func span(text string) time.Duration {
	if seconds, err := strconv.ParseFloat(strings.TrimSpace(text), 64); err == nil {
		return wait(seconds, time.Second)
	}
	units := map[string]time.Duration{"ms": time.Millisecond, "milli": time.Millisecond, "s": time.Second, "m": time.Minute, "h": time.Hour, "d": 24 * time.Hour}
	var sum time.Duration
	for _, part := range spanPart().FindAllStringSubmatch(text, -1) {
		n, _ := strconv.ParseFloat(part[1], 64)
		sum = min(sum+wait(n, units[strings.ToLower(part[2])]), 24*time.Hour)
	}
	return sum
}

// retryIn is the time to wait that a server puts into its sentence.
func (c complaint) retryIn() time.Duration {
	if c.wait > 0 {
		return c.wait
	}
	if m := asked().FindStringSubmatch(clipWords(c.message)); m != nil {
		return span(m[1])
	}
	if m := askedIn().FindStringSubmatch(clipWords(c.message)); m != nil {
		return span(m[1])
	}
	return 0
}

// resetIn is when the limit that was hit is lifted. Where the headers do not show
// which one it was, it is the first that is: asking once too early does less harm
// than waiting for a day's end.
func resetIn(h http.Header) time.Duration {
	var hit, first time.Duration
	for key, values := range h {
		name, ok := strings.CutPrefix(key, "X-Ratelimit-Reset")
		if !ok || len(values) == 0 {
			continue
		}
		in := untilReset(values[0], clock(h))
		if in <= 0 {
			continue
		}
		if left, err := strconv.ParseFloat(h.Get("X-Ratelimit-Remaining"+name), 64); err == nil && left <= 0 {
			hit = max(hit, in)
		}
		if first == 0 || in < first {
			first = in
		}
	}
	if hit > 0 {
		return hit
	}
	return first
}

// untilReset reads a time to wait or a moment in seconds or milliseconds since 1970.
func untilReset(value string, now time.Time) time.Duration {
	if at, err := time.Parse(time.RFC3339, value); err == nil {
		return wait(at.Sub(now).Seconds(), time.Second)
	}
	n, err := strconv.ParseFloat(value, 64)
	switch {
	case err == nil && n > 1e11:
		return wait(n-float64(now.UnixMilli()), time.Millisecond)
	case err == nil && n > 1e8:
		return wait(n-float64(now.Unix()), time.Second)
	}
	return span(value)
}
