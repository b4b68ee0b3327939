//! Addition of counters, field by field.

/// Implements `Add` for a struct of counters.
macro_rules! sum_of_fields {
    ($type:ty: $($field:ident),+) => {
        impl std::ops::Add for $type {
            type Output = Self;

            fn add(self, other: Self) -> Self {
                Self {
                    $($field: self.$field + other.$field,)+
                }
            }
        }
    };
}

pub(super) use sum_of_fields;
