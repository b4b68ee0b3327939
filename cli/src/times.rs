//! The times of something that was done several times, told by their median and their range.

use std::time::Duration;

use serde_json::{Value, json};

use crate::table;

/// Median, smallest and largest of some times.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Times {
    pub(crate) median: Duration,
    min: Duration,
    max: Duration,
    pub(crate) count: usize,
}

impl Times {
    /// There is at least one: the command line does not let `--repeat 0` through.
    pub(crate) fn of(mut times: Vec<Duration>) -> Self {
        times.sort_unstable();
        let count = times.len();
        Self {
            median: (times[(count - 1) / 2] + times[count / 2]) / 2,
            min: times[0],
            max: times[count - 1],
            count,
        }
    }

    /// In seconds, for programs.
    pub(crate) fn json(&self) -> Value {
        json!({
            "median": self.median.as_secs_f64(),
            "min": self.min.as_secs_f64(),
            "max": self.max.as_secs_f64(),
            "repeats": self.count,
        })
    }

    /// What [`json`](Self::json) has told.
    pub(crate) fn of_json(value: &Value) -> Option<Self> {
        let seconds = |name: &str| Duration::try_from_secs_f64(value[name].as_f64()?).ok();
        Some(Self {
            median: seconds("median")?,
            min: seconds("min")?,
            max: seconds("max")?,
            count: usize::try_from(value["repeats"].as_u64()?).ok()?,
        })
    }

    /// For people; of a single time there is only one thing to say.
    pub(crate) fn text(&self) -> String {
        let median = table::time(self.median);
        if self.count == 1 {
            return median;
        }
        let (min, max) = (table::time(self.min), table::time(self.max));
        format!("{median} (median of {}, from {min} to {max})", self.count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_of_an_even_number_lies_between_the_middle_two() {
        let times = Times::of([40, 10, 30, 20].map(Duration::from_millis).to_vec());
        assert_eq!(times.median, Duration::from_millis(25));
        assert_eq!(
            times.text(),
            "25.0 ms (median of 4, from 10.0 ms to 40.0 ms)"
        );
        assert_eq!(times.json()["max"], 0.04);
        let again = Times::of_json(&times.json()).expect("it is as it was told");
        assert_eq!(again.json(), times.json());
    }

    #[test]
    fn one_time_is_all_there_is_to_say() {
        assert_eq!(Times::of(vec![Duration::from_secs(2)]).text(), "2.00 s");
    }
}
