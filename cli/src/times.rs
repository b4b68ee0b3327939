//! The times of repeated runs, reported by their median and their range.

use std::time::Duration;

use serde::Serialize;
use serde_json::Value;

use crate::report::Quantity;
use crate::units;

/// Median, smallest and largest of some times. Serialises them in seconds.
#[derive(Debug, Clone, Copy, Serialize)]
pub(crate) struct Times {
    #[serde(serialize_with = "as_seconds")]
    pub(crate) median: Duration,
    #[serde(serialize_with = "as_seconds")]
    min: Duration,
    #[serde(serialize_with = "as_seconds")]
    max: Duration,
    #[serde(rename = "repeats")]
    count: usize,
}

fn as_seconds<S: serde::Serializer>(time: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64(time.as_secs_f64())
}

impl Times {
    /// Summarises at least one time.
    ///
    /// # Panics
    /// If there is no time. The command line does not accept `--repeat 0`.
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

    /// Reads times that were serialised.
    pub(crate) fn of_json(value: &Value) -> Option<Self> {
        let seconds = |name: &str| Duration::try_from_secs_f64(value[name].as_f64()?).ok();
        Some(Self {
            median: seconds("median")?,
            min: seconds("min")?,
            max: seconds("max")?,
            count: usize::try_from(value["repeats"].as_u64()?).ok()?,
        })
    }
}

impl Quantity for Times {
    /// Formats the median and the range, or the time alone if there is only one.
    fn text(&self) -> String {
        let median = units::time(self.median);
        if self.count == 1 {
            return median;
        }
        let (min, max) = (units::time(self.min), units::time(self.max));
        format!("{median} (median of {}, from {min} to {max})", self.count)
    }

    fn json(&self) -> impl Serialize {
        self
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_median_of_an_even_number_of_times_is_the_mean_of_the_middle_two() {
        let times = Times::of([40, 10, 30, 20].map(Duration::from_millis).to_vec());
        assert_eq!(times.median, Duration::from_millis(25));
        assert_eq!(
            times.text(),
            "25.0 ms (median of 4, from 10.0 ms to 40.0 ms)"
        );
        let json = json!(times);
        assert_eq!(json["max"], 0.04);
        let again = Times::of_json(&json).expect("the times");
        assert_eq!(json!(again), json);
    }

    #[test]
    fn a_single_time_has_no_range() {
        assert_eq!(Times::of(vec![Duration::from_secs(2)]).text(), "2.00 s");
    }
}
