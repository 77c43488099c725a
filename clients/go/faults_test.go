package holdfast

func actAsPausedHolder() bool { return false }
