//! One of a few, chosen by its name: with a flag, with a variable of the environment, or in a program.

/// Gives an enum the names of its values: `ALL`, `EXPECTED`, `name`, `Display`, `FromStr` and the error of that.
#[doc(hidden)]
#[macro_export]
macro_rules! choice {
    (
        $choice:ident is $what:literal, named by $options:literal:
        $($value:ident $name:literal),+; expected $expected:literal, else $unknown:ident
    ) => {
        impl $choice {
            /// All of them.
            pub const ALL: [Self; [$($name),+].len()] = [$(Self::$value),+];

            /// What is understood, for messages.
            pub const EXPECTED: &str = $expected;

            #[doc = concat!("The name that ", $options, " take.")]
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

        #[doc = concat!("There is no ", $what, " of that name.")]
        #[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
        #[error("no {} named {found:?}; expected {}", $what, $choice::EXPECTED)]
        pub struct $unknown {
            /// What was asked for.
            pub found: String,
        }

        impl std::str::FromStr for $choice {
            type Err = $unknown;

            /// Reads a name, in letters of either case.
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
