//! Checks the attribute `indexes=`, by which a person numbers the objects of a level.
//!
//! hwloc ignores a list that it cannot use, makes a set as long as the largest number, and ends the process where
//! the loops of an interleaving multiply to a number beyond its own. It knows three forms: numbers (`0,2,1,3`), loops of
//! a step and a count (`2*2:1*2`), and kinds of objects (`numa:core`).

use std::collections::HashSet;

use super::{Problem, check_kind, whole_number};
use crate::cpu_set::CPU_NUMBER_LIMIT;

/// Checks every list of indexes among `attributes`, which number the `width` objects of a level.
pub(super) fn check(attributes: &str, width: u64) -> Result<(), Problem> {
    for list in attributes
        .split(' ')
        .filter_map(|attribute| attribute.strip_prefix("indexes="))
    {
        let starts_with_digit = list.starts_with(|first: char| first.is_ascii_digit());
        if starts_with_digit && list.contains('*') {
            check_loops(list, width)?;
        } else if starts_with_digit {
            check_numbers(list, width)?;
        } else {
            for kind in list.split(':') {
                check_kind(kind)?;
            }
        }
    }
    Ok(())
}

fn check_numbers(list: &str, width: u64) -> Result<(), Problem> {
    let mut seen = HashSet::new();
    for digits in list.split(',') {
        let is_digits = digits.bytes().all(|byte| byte.is_ascii_digit());
        let number = digits
            .parse()
            .ok()
            .filter(|&number: &u32| is_digits && number < CPU_NUMBER_LIMIT);
        let Some(number) = number else {
            return Err(Problem::new(
                format!("{digits:?} as an index"),
                format!("a whole number below {CPU_NUMBER_LIMIT}"),
            ));
        };
        if !seen.insert(number) {
            return Err(Problem::new(
                format!("the index {number} for the second time"),
                "a number for each object",
            ));
        }
    }
    if seen.len() as u64 != width {
        return Err(Problem::new(
            format!("{} indexes of {width} objects", seen.len()),
            "one for each object",
        ));
    }
    Ok(())
}

fn check_loops(list: &str, width: u64) -> Result<(), Problem> {
    let mut product: u64 = 1;
    for one_loop in list.split(':') {
        let factors = one_loop
            .split_once('*')
            .and_then(|(step, count)| whole_number(step).zip(whole_number(count)));
        let Some((_, count)) = factors else {
            return Err(Problem::new(
                format!("{one_loop:?} as a loop of indexes"),
                "a step and a count, such as \"4*2\"",
            ));
        };
        product = product.saturating_mul(u64::from(count));
    }
    if product > width {
        return Err(Problem::new(
            format!("loops of {product} indexes for {width} objects"),
            "one index for each object",
        ));
    }
    Ok(())
}
