package simulation

import (
	"bytes"
	"encoding/binary"
	"sync"
	"time"
)

// The frames of HTTP/2 that matter here (RFC 9113, section 6).
const (
	frameHeader  = 9 // bytes
	frameData    = 0x0
	frameHeaders = 0x1
	frameReset   = 0x3
	frameGoAway  = 0x7

	flagEndStream = 0x1
	codeRefused   = 0x7
	codeCancel    = 0x8
)

// preface is what a client says first.
const preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"

// frames reads along on a connection of HTTP/2, and puts frames of its own between
// those of the server. Over HTTP/1.1 it does nothing.
type frames struct {
	conn *conn

	mu    sync.Mutex
	known bool // that it is HTTP/2 or not
	h2    bool
	up    []byte // the beginning of a frame whose rest is still to come
	down  []byte
	seen  uint32 // the highest stream
	fate  map[uint32]upset

	refused map[uint32]bool // streams that the server is not to process
	gone    uint32          // nor this one and all after it; 0 is none
}

// upset is a frame that the server never sent.
type upset struct {
	when  Moment
	frame func() []byte // called with the lock held
	close bool
}

// pass takes what travels in a direction, and returns what of it arrives now, whole
// frames, and whether there is more to come.
func (f *frames) pass(up bool, data []byte) (now []byte, more bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if up && !f.known && len(data) > 0 {
		f.known = true
		f.h2 = bytes.HasPrefix(data, []byte(preface))
	}
	switch {
	case !f.h2:
		return data, false
	case up:
		return f.passUpLocked(data), false
	}
	return f.passDownLocked(data)
}

// passUpLocked looks for new streams, and keeps those that are refused from being
// processed: a server that says so does not lie.
func (f *frames) passUpLocked(data []byte) (now []byte) {
	f.up = append(f.up, data...)
	whole := 0
	if bytes.HasPrefix(f.up, []byte(preface)) {
		whole = len(preface)
		now = append(now, preface...)
	}
	for frame := next(f.up[whole:]); frame != nil; frame = next(f.up[whole:]) {
		id := stream(frame)
		if frame[3] == frameHeaders && id > f.seen {
			f.seen = id
			f.meetLocked(id)
		}
		switch refused := id != 0 && (f.refused[id] || f.gone != 0 && id >= f.gone); {
		case !refused:
			now = append(now, frame...)
		case frame[3] == frameHeaders: // which the compression of later ones builds on
			unfinished := bytes.Clone(frame)
			unfinished[4] &^= flagEndStream
			now = append(append(now, unfinished...), resetFrame(id, codeCancel)...)
		}
		whole += len(frame)
	}
	f.up = bytes.Clone(f.up[whole:])
	return now
}

// meetLocked gives a new stream the trouble that waits on the link.
func (f *frames) meetLocked(id uint32) {
	var u upset
	if t, ok := take[Reset](f.conn.link, nil); ok {
		u = upset{when: t.When, frame: func() []byte { return resetFrame(id, t.Code) }}
		if t.Code == codeRefused {
			u.when = AtRequest
			f.refused = map[uint32]bool{id: true}
		}
		f.tell(id, t)
	} else if t, ok := take[GoAway](f.conn.link, nil); ok {
		u = upset{when: t.When, close: t.Close, frame: func() []byte {
			if f.gone == 0 {
				f.gone = f.seen + 1
			}
			return goAwayFrame(f.gone-1, t.Code)
		}}
		if t.Refused {
			u.when = AtRequest
			f.gone = id
		}
		f.tell(id, t)
	}
	switch u.when {
	case "":
	case AtRequest:
		time.AfterFunc(f.conn.link.latency("upset "+f.conn.name), func() {
			f.mu.Lock()
			defer f.mu.Unlock()
			f.conn.down.insert(u.frame())
			f.close(u)
		})
	default:
		f.fate = map[uint32]upset{id: u}
	}
}

func (f *frames) tell(id uint32, a Action) {
	f.conn.link.w.trace.add(f.conn.link.name, "%s: stream %d meets %#v", f.conn.name, id, a)
}

// close ends the connection soon after a frame that wants it.
func (f *frames) close(u upset) {
	if u.close {
		time.AfterFunc(f.conn.link.latency("close "+f.conn.name), func() { f.conn.breakOff(false) })
	}
}

// passDownLocked puts frames where fate wants them, each alone.
func (f *frames) passDownLocked(data []byte) (now []byte, more bool) {
	f.down = append(f.down, data...)
	whole := 0
	for frame := next(f.down); frame != nil; frame = next(f.down[whole:]) {
		u, hit := f.fate[stream(frame)]
		if hit && (u.when == AtAnswer && frame[3] == frameHeaders || u.when == AtBody && frame[3] == frameData) {
			more = true
			if whole == 0 {
				delete(f.fate, stream(frame))
				f.close(u)
				return u.frame(), true
			}
			break
		}
		whole += len(frame)
	}
	now = f.down[:whole:whole]
	f.down = bytes.Clone(f.down[whole:])
	return now, more
}

// next returns the first frame, or nil if it is not whole yet.
func next(b []byte) []byte {
	if len(b) < frameHeader {
		return nil
	}
	n := frameHeader + int(b[0])<<16 + int(b[1])<<8 + int(b[2])
	if len(b) < n {
		return nil
	}
	return b[:n]
}

// stream returns the stream that a frame belongs to.
func stream(frame []byte) uint32 { return binary.BigEndian.Uint32(frame[5:]) & (1<<31 - 1) }

func resetFrame(id, code uint32) []byte {
	b := []byte{0, 0, 4, frameReset, 0}
	return binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(b, id), code)
}

func goAwayFrame(last, code uint32) []byte {
	b := []byte{0, 0, 8, frameGoAway, 0, 0, 0, 0, 0}
	return binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(b, last), code)
}
