//! Calls that a store of this process and one on a server have in common.

/// Lists calls of an enum with the variants `Embedded` and `Remote`, and passes each on. Their
/// signatures stand once: where the library and the client differ, this does not compile.
macro_rules! delegate {
    ($kind:ident: $($(#[$meta:meta])* fn $call:ident(&self $(, $argument:ident: $given:ty)* $(,)?) -> $answer:ty;)*) => {
        impl $kind {
            $(
                $(#[$meta])*
                pub fn $call(&self $(, $argument: $given)*) -> $answer {
                    match self {
                        Self::Embedded(this) => this.$call($($argument),*).map(Into::into),
                        Self::Remote(this) => this.$call($($argument),*).map(Into::into),
                    }
                }
            )*
        }
    };
}

/// An enum with these two variants, and the ways into it.
macro_rules! either {
    ($(#[$meta:meta])* $kind:ident: $embedded:ty, $remote:ty) => {
        $(#[$meta])*
        #[allow(clippy::large_enum_variant, reason = "one a call or a batch: a box would be a detour")]
        pub enum $kind {
            /// Of a store of this process.
            Embedded($embedded),
            /// Of a store on a server.
            Remote($remote),
        }

        impl From<$embedded> for $kind {
            fn from(this: $embedded) -> Self {
                Self::Embedded(this)
            }
        }

        impl From<$remote> for $kind {
            fn from(this: $remote) -> Self {
                Self::Remote(this)
            }
        }
    };
}

pub(super) use delegate;
pub(super) use either;
