//! Enums whose variants have names, and options whose fields have defaults.

use std::fmt::Display;

/// An enum whose variants have names.
pub trait Choice: Copy + Display + Send + Sync + 'static {
    /// Its name on the command line and in reports.
    fn name(self) -> &'static str;

    /// What it is.
    fn about(self) -> &'static str;
}

/// An enum whose names stand beside its variants, once for the command line, reports and progress
/// lines.
macro_rules! choice {
    (
        $(#[$meta:meta])*
        $vis:vis enum $type:ident { $($(#[doc = $doc:literal])* $variant:ident = $name:literal,)+ }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        $vis enum $type { $($(#[doc = $doc])* $variant,)+ }

        #[allow(dead_code, reason = "not every choice is listed")]
        impl $type {
            /// All of them, in order.
            $vis const ALL: [$type; [$($name),+].len()] = [$($type::$variant),+];

            /// Its name on the command line and in reports.
            $vis fn name(self) -> &'static str {
                match self { $($type::$variant => $name,)+ }
            }
        }

        impl crate::choice::Choice for $type {
            fn name(self) -> &'static str {
                <$type>::name(self)
            }

            fn about(self) -> &'static str {
                match self { $($type::$variant => concat!($($doc),*).trim(),)+ }
            }
        }

        impl std::fmt::Display for $type {
            fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                to.write_str(self.name())
            }
        }
    };
}

/// A struct whose defaults stand beside its fields. A field with `=> "name"` is a setting of the
/// report, written by `to_string` or by the function that follows the name.
macro_rules! options {
    (
        $(#[$meta:meta])*
        pub struct $type:ident { $(
            $(#[$doc:meta])*
            $field:ident: $of:ty = $default:expr $(=> $name:literal $($write:path)?)?,
        )+ }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Debug)]
        pub struct $type { $($(#[$doc])* pub $field: $of,)+ }

        impl Default for $type {
            fn default() -> Self {
                $type { $($field: $default,)+ }
            }
        }

        #[allow(dead_code, reason = "some options are not settings of a report")]
        impl $type {
            /// The options that a report tells, by name.
            pub(crate) fn settings(&self) -> std::collections::BTreeMap<String, String> {
                [$($(($name, crate::choice::written!(&self.$field $(, $write)?)),)?)+]
                    .map(|(name, value): (&str, String)| (name.to_owned(), value))
                    .into()
            }
        }
    };
}

/// A field of [`options`] as a text.
macro_rules! written {
    ($value:expr) => {
        $value.to_string()
    };
    ($value:expr, $write:path) => {
        $write($value)
    };
}

pub(crate) use {choice, options, written};
