//! Settings with a few named values, which are chosen with an option, with an environment variable,
//! or in a program.

/// Implements the names of the values of an enum: `ALL`, `EXPECTED`, `name`, `Display`, `FromStr`
/// and its error.
#[doc(hidden)]
#[macro_export]
macro_rules! choice {
    (
        $choice:ident is $what:literal, named by $options:literal:
        $($value:ident $name:literal),+; expected $expected:literal, else $unknown:ident
    ) => {
        impl $choice {
            /// All values.
            pub const ALL: [Self; [$($name),+].len()] = [$(Self::$value),+];

            /// The accepted names, for messages.
            pub const EXPECTED: &str = $expected;

            #[doc = concat!("Returns the name that ", $options, " take.")]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$value => $name),+
                }
            }
        }

        impl std::fmt::Display for $choice {
            fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.write_str(self.name())
            }
        }

        #[doc = concat!("The error for a name that is no ", $what, ".")]
        #[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
        #[error("no {} named {found:?}; expected {}", $what, $choice::EXPECTED)]
        pub struct $unknown {
            /// The requested name.
            pub found: String,
        }

        impl std::str::FromStr for $choice {
            type Err = $unknown;

            /// Parses a name, ignoring case.
            fn from_str(name: &str) -> Result<Self, $unknown> {
                Self::ALL
                    .into_iter()
                    .find(|choice| choice.name().eq_ignore_ascii_case(name))
                    .ok_or_else(|| $unknown {
                        found: name.to_owned(),
                    })
            }
        }
    };
}

pub(crate) use choice;
