//! Parallel iterators, chares, locations and tokio in one program.
//!
//! A client asks for pictures of the Mandelbrot set over a socket:
//!
//! - tokio waits for sockets and timers, on one thread that sleeps nearly all the time;
//! - chares are the service: each renders a strip of every picture, on the worker where it lives;
//! - a parallel iterator computes the rows of a strip, and sends a message for each row;
//! - locations pass the pictures through two tasks, one after the other.
//!
//! Everything but tokio runs on Raddle's workers, one per CPU. `cargo run` in this folder prints:
//! ```text
//! picture 1: 24.1 % black
//! picture 2: 68.9 % black
//! picture 3: 85.6 % black
//! on average: 59.6 % black
//! ```
#![forbid(unsafe_code)]

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use raddle::prelude::*;
use rayon::prelude::*;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

const WIDTH: usize = 96;
const HEIGHT: usize = 60;
const STRIPS: usize = 6;
const ROWS: usize = HEIGHT / STRIPS;
const PICTURES: u8 = 3;
const STEPS: u8 = 200;

/// Returns a row of a picture: for each pixel, the number of steps until the point escapes.
fn row(zoom: u8, y: usize) -> Vec<u8> {
    let half_width = 1.6 / f64::from(zoom);
    let pixel = |x: usize| {
        let (x, y) = (
            x as f64 / WIDTH as f64 - 0.5,
            y as f64 / HEIGHT as f64 - 0.5,
        );
        let (re, im) = (-0.6 + 2.0 * half_width * x, 1.25 * half_width * y);
        let (mut a, mut b) = (0.0, 0.0);
        let mut escapes = (0..STEPS).filter(|_| {
            (a, b) = (a * a - b * b + re, 2.0 * a * b + im);
            a * a + b * b > 4.0
        });
        escapes.next().unwrap_or(STEPS)
    };
    (0..WIDTH).map(pixel).collect()
}

/// A chare that renders some rows of every picture.
struct Strip {
    /// The handle to tokio, for its timers.
    tokio: tokio::runtime::Handle,
}

#[chare]
impl Strip {
    /// Renders the rows of this strip.
    #[entry]
    async fn render(&mut self, cx: &mut Cx<Self>, zoom: u8, meter: MeterProxy) -> Vec<u8> {
        // Waits for a timer of tokio, which has to be made on a thread of tokio. Meanwhile the
        // worker does other work.
        let timer = self.tokio.spawn(async {
            tokio::time::sleep(Duration::from_millis(1)).await;
        });
        timer.await.expect("a timer does not panic");
        // The iterator runs on Raddle's workers, and so does this entry.
        let rows = cx.index() * ROWS..(cx.index() + 1) * ROWS;
        let render = |y| {
            meter.row(raddle::worker_index().is_some());
            row(zoom, y)
        };
        rows.into_par_iter().flat_map_iter(render).collect()
    }
}

/// A chare that counts rows.
struct Meter;

#[chare]
impl Meter {
    #[message]
    fn row(is_on_worker: bool);

    /// Waits for `count` rows, and returns how many of them were computed on a worker.
    #[entry]
    async fn count(&mut self, cx: &mut Cx<Self>, count: usize) -> usize {
        let mut on_workers = 0;
        for _ in 0..count {
            on_workers += usize::from(cx.next(Self::row).await);
        }
        on_workers
    }
}

/// Answers each byte, a zoom factor, with a picture, until the client hangs up.
async fn serve(
    listener: TcpListener,
    strips: raddle::Array<Strip>,
    meter: MeterProxy,
) -> io::Result<()> {
    let (mut client, _) = listener.accept().await?;
    while let Ok(zoom) = client.read_u8().await {
        // All strips begin before the first reply is awaited.
        let replies: Vec<_> = (0..STRIPS)
            .map(|index| strips.at(index).render(zoom, meter))
            .collect();
        for reply in replies {
            client.write_all(&reply.await).await?;
        }
    }
    Ok(())
}

/// Asks for all pictures.
async fn ask(server: SocketAddr) -> io::Result<Vec<Vec<u8>>> {
    let mut server = TcpStream::connect(server).await?;
    let mut pictures = Vec::new();
    for zoom in 1..=PICTURES {
        server.write_u8(zoom).await?;
        let mut picture = vec![0; WIDTH * HEIGHT];
        server.read_exact(&mut picture).await?;
        pictures.push(picture);
    }
    Ok(pictures)
}

/// Renders all pictures: the client and the service talk over a socket. Returns the pictures, and
/// the number of rows that were computed on a worker.
fn render_all(tokio: &tokio::runtime::Runtime) -> io::Result<(Vec<Vec<u8>>, usize)> {
    let runtime = raddle::default_runtime();
    let meter = runtime.chare(|_| Meter);
    let handle = tokio.handle().clone();
    let strips = runtime.array(STRIPS, move |_| Strip {
        tokio: handle.clone(),
    });
    let row_count = usize::from(PICTURES) * HEIGHT;
    let counted = meter.count(row_count);
    // Raddle waits for futures of tokio, on a worker, which does other work meanwhile.
    let pictures = raddle::block_on(tokio.spawn(async move {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        let (server, client) = (tokio::spawn(serve(listener, strips, meter)), ask(address));
        let pictures = client.await?;
        server.await.expect("the service does not panic")?;
        io::Result::Ok(pictures)
    }));
    Ok((
        pictures.expect("the client does not panic")?,
        counted.wait(),
    ))
}

/// Passes the pictures through two tasks that share locations. Returns the share of black pixels in
/// each picture, and the average.
fn measure(pictures: Vec<Vec<u8>>) -> (Vec<f64>, f64) {
    let turns = pictures.len();
    let mut program = Program::new("exposure");
    let share = program.fifo("share", 2, |_| 0.0_f64);
    let sum = program.location("sum", (Vec::new(), 0.0_f64));
    program.task("measure", |task| {
        let mut share = task.writes_each_turn(&share);
        let mut pictures = pictures.into_iter();
        move || {
            let picture = pictures.next().expect("one picture in each turn");
            let black = picture.par_iter().filter(|&&steps| steps == STEPS).count();
            share.section(|share| *share = black as f64 / picture.len() as f64);
        }
    });
    program.task("add", |task| {
        let (mut share, mut sum) = (task.reads_each_turn(&share), task.writes_each_turn(&sum));
        move || {
            share.section(|share| {
                sum.section(|(shares, sum)| {
                    shares.push(*share);
                    *sum += share;
                })
            })
        }
    });
    program
        .run(Turns(turns as u64))
        .expect("the tasks do not fail");
    let (shares, sum) = sum.read().expect("the program has ended").clone();
    (shares, sum / turns as f64)
}

fn start_tokio() -> io::Result<tokio::runtime::Runtime> {
    // One thread is enough, because it only waits.
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
}

fn main() -> io::Result<()> {
    let (pictures, _) = render_all(&start_tokio()?)?;
    let (shares, average) = measure(pictures);
    for (share, number) in shares.iter().zip(1..) {
        println!("picture {number}: {:.1} % black", 100.0 * share);
    }
    println!("on average: {:.1} % black", 100.0 * average);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_models_share_the_workers_and_compute_the_same_pictures() -> io::Result<()> {
        assert_eq!(rayon::current_num_threads(), raddle::worker_count());
        let (pictures, on_workers) = render_all(&start_tokio()?)?;
        assert_eq!(on_workers, usize::from(PICTURES) * HEIGHT);
        for (picture, zoom) in pictures.iter().zip(1..) {
            let expected: Vec<u8> = (0..HEIGHT).flat_map(|y| row(zoom, y)).collect();
            assert!(*picture == expected, "picture {zoom}");
        }
        let black = |picture: &Vec<u8>| {
            let count = picture.iter().filter(|&&steps| steps == STEPS).count();
            count as f64 / picture.len() as f64
        };
        let expected: Vec<f64> = pictures.iter().map(black).collect();
        let (shares, average) = measure(pictures);
        assert_eq!(shares, expected);
        let mean = expected.iter().sum::<f64>() / expected.len() as f64;
        assert!((average - mean).abs() < 1e-12);
        Ok(())
    }
}
