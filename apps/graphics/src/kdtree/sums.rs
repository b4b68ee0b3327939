//! Sums of what was counted: field by field.

/// Makes a struct of counts one that can be added.
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
