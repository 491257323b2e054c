package rpc

import "reflect"

// Pending is the number of calls whose answer jsonrpc2 still waits for. Nothing
// may use the connection meanwhile.
func Pending(c *Conn) int { return reflect.ValueOf(c.rpc).Elem().FieldByName("pending").Len() }
