use raddle_numerics::lk23::*;
use std::num::NonZeroUsize;
use std::time::Instant;
fn main() {
    let a: Vec<usize> = std::env::args()
        .skip(1)
        .map(|x| x.parse().unwrap())
        .collect();
    let (n, t, b, d, w) = (a[0], a[1], a[2], a[3], a[4]);
    let input = Input {
        rows: n,
        columns: n,
        seed: 1,
    };
    let nz = NonZeroUsize::new;
    let wanted = Wanted {
        block: nz(b).zip(nz(b)),
        depth: nz(d),
        ..Default::default()
    };
    let plan = Plan::new(n, n, t as u64, &wanted).unwrap();
    println!(
        "blocks {:?} depth {} turns {}",
        plan.blocks(),
        plan.depth(),
        plan.turns()
    );
    let pts = (n * n * t) as f64;
    let c = if w < 10 {
        let mut bl = Blocks::new(&input, &plan);
        let s = Instant::now();
        bl.run(|_| ());
        let e = s.elapsed();
        println!("serial {:?} {:.3} ns/pt", e, e.as_secs_f64() * 1e9 / pts);
        checksum(&bl.values())
    } else {
        0
    };
    if a.len() > 5 {
        let s = Instant::now();
        let z = reference(&input, t as u64);
        println!("ref (with setup) {:?}", s.elapsed());
        assert_eq!(checksum(&z), c);
    }
    for w in 1..=w % 10 {
        let rt = raddle::Runtime::builder().workers(w).build().unwrap();
        let p = Lk23::new(&rt, &input, &plan, Form::Future, |_| ());
        let s = Instant::now();
        let pl = p.program.compute_placement(&rt);
        println!("place {:?} {}", s.elapsed(), pl.reason);
        let ran = p.run_on(&rt).unwrap();
        let e = ran.outcome.elapsed;
        println!(
            "{w} workers {:?} {:.3} ns/pt  {}",
            e,
            e.as_secs_f64() * 1e9 / pts,
            ran.outcome.sections
        );
        assert!(c == 0 || checksum(&ran.values().unwrap()) == c);
    }
}
