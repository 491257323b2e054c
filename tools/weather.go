package tools

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"strings"

	"assent/agent"
)

type weatherArgs struct {
	City string `json:"city" jsonschema_description:"Name of the city"`
}

// Weather is the classic first tool of agent tutorials. It knows no weather; the
// same city always gets the same invented one.
func Weather() agent.Tool {
	return Func(agent.Spec{
		Name:        "get_weather",
		Description: "Says what the weather is in a city. This is an example tool: its answers are invented.",
	}, func(_ context.Context, args weatherArgs) (string, error) {
		city := strings.TrimSpace(args.City)
		if city == "" {
			return "", errors.New("city is empty; give the name of a city")
		}
		skies := [...]string{"sunny", "cloudy", "light rain", "heavy rain", "fog", "snow", "wind", "thunderstorms"}
		h := fnv.New32a()
		h.Write([]byte(strings.ToLower(city)))
		n := h.Sum32()
		sky, degrees := skies[n%uint32(len(skies))], int(n/8%35)
		if sky == "snow" {
			degrees = -degrees % 10
		}
		return fmt.Sprintf("%s: %d °C, %s (an example: invented, not measured)", city, degrees, sky), nil
	})
}
