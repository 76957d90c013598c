//! What a client may send and leave unread.

/// Limits of one client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClientLimits {
    /// The longest argument.
    pub argument_bytes_max: usize,
    /// The most arguments of a command.
    pub arguments_max: usize,
    /// The longest command on a line of its own, and the longest line that announces a length.
    pub line_bytes_max: usize,
    /// The most bytes of commands that wait to be carried out.
    pub input_bytes_max: usize,
    /// While so many bytes of replies wait for the client, no further command of it is read.
    pub output_pause_bytes: usize,
    /// A client with more bytes of replies that it has not read is closed.
    pub output_bytes_max: usize,
    /// A client that leaves so many bytes of messages of channels unread is closed.
    pub messages_bytes_max: usize,
    /// The same for one that leaves so many unread for a minute.
    pub messages_bytes_kept: usize,
    /// The longest argument before the client has logged in.
    pub unauthenticated_argument_bytes_max: usize,
    /// The most arguments before the client has logged in.
    pub unauthenticated_arguments_max: usize,
}

impl Default for ClientLimits {
    fn default() -> Self {
        Self {
            argument_bytes_max: 64 << 20,
            arguments_max: 1 << 20,
            line_bytes_max: 64 << 10,
            input_bytes_max: 256 << 20,
            output_pause_bytes: 1 << 20,
            output_bytes_max: 256 << 20,
            messages_bytes_max: 32 << 20,
            messages_bytes_kept: 8 << 20,
            unauthenticated_argument_bytes_max: 16 << 10,
            unauthenticated_arguments_max: 10,
        }
    }
}
