package control_test

import (
	"testing"

	"example.com/emailplatform/internal/tests/probe"
)

func TestMain(m *testing.M) { probe.Main(m) }
