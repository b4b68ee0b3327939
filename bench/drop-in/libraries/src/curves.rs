//! Arithmetic of proof systems by arkworks: transforms over a field, and sums over a curve.

use ark_bls12_381::{Fr, G1Projective};
use ark_ec::{CurveGroup, PrimeGroup, VariableBaseMSM};
use ark_poly::{EvaluationDomain, Radix2EvaluationDomain};

use crate::Outcome;

/// The number of values of a transform.
const VALUES: u64 = 1 << 14;
/// The number of points of a sum.
const POINTS: usize = 1 << 10;

pub(crate) fn transform_and_multiply() -> Outcome {
    let domain = Radix2EvaluationDomain::<Fr>::new(VALUES as usize).ok_or("no domain")?;
    let mut values: Vec<Fr> = (0..VALUES)
        .map(|index| Fr::from(index * index + 7))
        .collect();
    for _ in 0..10 {
        domain.fft_in_place(&mut values);
        domain.ifft_in_place(&mut values);
        domain.fft_in_place(&mut values);
    }
    println!("{}", values[5]);
    let generator = G1Projective::generator();
    let points: Vec<_> = (0..POINTS)
        .scan(generator, |sum, _| {
            *sum += generator;
            Some(*sum)
        })
        .collect();
    let points = G1Projective::normalize_batch(&points);
    for _ in 0..3 {
        let sum = G1Projective::msm(&points, &values[..POINTS]);
        let sum = sum.map_err(|len| format!("only {len} points"))?;
        println!("{}", sum.into_affine());
    }
    Ok(())
}
