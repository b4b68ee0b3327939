//! Scans over an array, in each form.

use raddle::chare::ScanForm;
use raddle::reduce::Sum;
use raddle::{Chares, Cx, chare};

use super::case;
use super::rounds::on_raddle;
use crate::error::BenchError;
use crate::harness::{Contender, Unit};
use crate::suites::Measurement;

/// The numbers of elements of the arrays.
const ELEMENTS: [usize; 7] = [2, 4, 8, 16, 32, 64, 128];
/// The approximate number of contributions in all scans of a run.
const CONTRIBUTIONS: u64 = 100_000;

/// Measures arrays of all sizes in all forms.
///
/// A barrier ends each scan, since otherwise some elements could get far ahead of others.
pub(super) fn run(measurement: &mut Measurement<'_>) -> Result<(), BenchError> {
    for elements in ELEMENTS {
        let name = format!("scan/{elements}");
        let (count, scans) = (elements as u64, CONTRIBUTIONS / elements as u64);
        let expected = scans * (count * (count - 1) / 2);
        let case = case(&name, Unit::Microseconds, scans, expected);
        let in_form = |name, form| {
            on_raddle(name, move |runtime| {
                let array = runtime.array(elements, |_| Counter);
                array.all().number(form, scans);
                array.reduction().try_wait()
            })
        };
        let mut peers: Vec<Box<dyn Contender>> = Vec::new();
        for form in ScanForm::ALL {
            if form != ScanForm::Auto {
                peers.push(Box::new(in_form(form.name(), form)));
            }
        }
        let mut own = in_form("raddle", ScanForm::Auto);
        measurement.compare(&case, &mut own, &mut peers)?;
    }
    Ok(())
}

/// An element that counts the elements before it.
struct Counter;

#[chare]
impl Counter {
    #[entry]
    async fn number(&mut self, cx: &mut Cx<Self>, form: ScanForm, scans: u64) {
        let mut sum = 0;
        for _ in 0..scans {
            sum += cx.scan_with(form, Sum(1_u64)).await;
            cx.reduce(()).await;
        }
        cx.contribute(Sum(sum));
    }
}
