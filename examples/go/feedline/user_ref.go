package feedline

// UserRef leaves out what is not set: the server wants exactly one.
type UserRef struct {
	Handle string `json:"handle,omitempty"`
	ID     string `json:"id,omitempty"`
}
