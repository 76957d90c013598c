//! Enums whose variants have names.

/// An enum whose names stand beside its variants, once for the command line, reports and progress
/// lines.
macro_rules! choice {
    (
        $(#[$meta:meta])*
        $vis:vis enum $type:ident { $($(#[$doc:meta])* $variant:ident = $name:literal,)+ }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        $vis enum $type { $($(#[$doc])* $variant,)+ }

        #[allow(dead_code, reason = "not every choice is listed")]
        impl $type {
            /// All of them, in order.
            $vis const ALL: [$type; [$($name),+].len()] = [$($type::$variant),+];

            /// Its name on the command line and in reports.
            $vis fn name(self) -> &'static str {
                match self { $($type::$variant => $name,)+ }
            }
        }
    };
}

pub(crate) use choice;
