//! tmp
use std::num::NonZeroUsize; use std::time::Instant; use raddle_numerics::lk23::*;
fn main(){ let a:Vec<usize>=std::env::args().skip(1).map(|x|x.parse().unwrap()).collect();
 let (n,t,b,d,reps)=(a[0],a[1],a[2],a[3],a[4]);
 let input=Input{rows:n,columns:n,seed:1};
 let nz=NonZeroUsize::new; let wanted=Wanted{block:nz(b).zip(nz(b)),depth:nz(d),..Default::default()};
 let plan=Plan::new(n,n,t as u64,&wanted).unwrap();
 let (down,across)=plan.blocks();
 println!("blocks {:?} depth {} turns {}",plan.blocks(),plan.depth(),plan.turns());
 let rt=raddle::Runtime::builder().workers(2).build().unwrap();
 for _ in 0..reps {
 let mut bl=Blocks::new(&input,&plan); let s=Instant::now(); bl.run(|_|()); print!("serial {:.0} ms;",s.elapsed().as_secs_f64()*1e3); drop(bl);
 for kind in ["auto","rows/2","cols/2","row%2","col%2","row/4%2","one"] {
  let mut p=Lk23::new(&rt,&input,&plan,Form::Future,|_|());
  let mut pl=p.program.compute_placement(&rt);
  if kind=="auto" { let mut per=vec![vec![0;across];down]; for q in &pl.places { if q.operation.ends_with("main") { let x=q.operation.trim_start_matches("block ").split('/').next().unwrap(); let (r,c)=x.split_once(',').unwrap(); per[r.parse::<usize>().unwrap()][c.parse::<usize>().unwrap()]=q.worker_index; } }
   if std::env::var("MAP").is_ok() { for r in &per { println!("{}", r.iter().map(|w|w.to_string()).collect::<String>()); } } }
  let cpus:Vec<_>=(0..2).map(|w|pl.places.iter().find(|q|q.worker_index==w).and_then(|q|q.cpu)).collect();
  for q in &mut pl.places { let x=q.operation.trim_start_matches("block ").split('/').next().unwrap().to_owned(); let (r,c)=x.split_once(',').unwrap(); let (r,c):(usize,usize)=(r.parse().unwrap(),c.parse().unwrap());
   let w=match kind {"rows/2"=>r*2/down,"cols/2"=>c*2/across,"row%2"=>r%2,"col%2"=>c%2,"row/4%2"=>r/4%2,"one"=>0,_=>q.worker_index}; q.worker_index=w; q.cpu=cpus[w]; }
  p.program.apply_placement(pl);
  let ran=p.run_on(&rt).unwrap(); print!(" {kind} {:.0};",ran.outcome.elapsed.as_secs_f64()*1e3); }
 println!(); }
}
