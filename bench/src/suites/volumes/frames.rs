//! The frames of study mode with each tile as a task of a pool, or with the original's own scheme.

use std::ops::Range;

use raddle_graphics::volume::Volume;
use raddle_graphics::volume::volrend::{FrameView, Sampling, Volrend};
use raddle_sync::CachePadded;
use raddle_sync::prim::{AtomicUsize, Relaxed};

use crate::error::BenchError;
use crate::harness::{Contender, Local, Sample, timed};
use crate::pools::RaddlePools;
use crate::suites::pools::job::{Job, Runner, Sums, Workload};

/// The numbers of the study's frames: four steps about the vertical axis.
const FRAMES: Range<u32> = 4..8;
/// The number of steps of a turn.
const STEPS: u32 = 4;

/// The four frames.
#[derive(Debug)]
pub(super) struct Frames {
    map: Volrend,
    sampling: Sampling,
    sums: Sums,
}

impl Frames {
    /// Prepares the volume.
    ///
    /// # Errors
    /// [`BenchError::Contender`] if it is not a density map.
    pub(super) fn new(volume: &Volume, is_adaptive: bool) -> Result<Self, BenchError> {
        Ok(Self {
            map: Volrend::new(volume).map_err(super::failed)?,
            sampling: match is_adaptive {
                true => Sampling::Adaptive,
                false => Sampling::Full,
            },
            sums: Sums::default(),
        })
    }

    /// Renders the frames as the library does it, and returns a sum of the pixels and rays.
    pub(super) fn render(&self) -> u64 {
        sum_of(|view| {
            let picture = self.map.render(view, self.sampling, |_| ());
            (picture.pixels, picture.counts.rays)
        })
    }

    /// Renders the frames by tiles: `run` gets the number of the tiles of a frame, and the work of
    /// a tile. Returns the sum of [`render`](Self::render).
    fn render_tiles(&self, run: impl Fn(usize, &(dyn Fn(usize) + Sync))) -> u64 {
        sum_of(|view| {
            let frame = self.map.frame(view, self.sampling);
            run(frame.tile_count(), &|tile| {
                self.sums.add(frame.trace(tile).rays);
            });
            if self.sampling == Sampling::Adaptive {
                // In a loop, because each tile takes the same time.
                raddle::for_each(0..frame.tile_count(), |tile| frame.interpolate(tile));
            }
            (frame.pixels(), self.sums.take())
        })
    }

    /// Returns a contender with the original's scheme: a counter for each band of tiles, one band
    /// for each worker. A worker takes the tiles of its own band, and then those of the others. The
    /// original locks its counters; here they are atomic.
    pub(super) fn bands(&self) -> impl Contender + use<'_> {
        let mut pools = RaddlePools::default();
        Local::new("splash", move |request| {
            let workers = request.workers;
            pools.install(workers, || {
                timed(request.repetitions, || {
                    self.render_tiles(|tile_count, work| in_bands(workers, tile_count, work))
                })
            })
        })
    }
}

/// Returns a sum over all frames. `frame` returns the pixels and the number of rays of one.
fn sum_of(frame: impl Fn(FrameView) -> (Vec<u8>, u64)) -> u64 {
    let sum = |number| {
        let (pixels, rays) = frame(FrameView::of_frame(STEPS, number));
        let sum: u64 = pixels.iter().map(|&pixel| u64::from(pixel)).sum();
        sum + 1_000_000_007 * rays
    };
    FRAMES.map(sum).fold(0, u64::wrapping_add)
}

/// Does the work of all tiles by the original's scheme.
fn in_bands(workers: usize, tile_count: usize, work: &(dyn Fn(usize) + Sync)) {
    let begin = |band: usize| band * tile_count / workers;
    let next: Vec<CachePadded<AtomicUsize>> = (0..workers)
        .map(|band| CachePadded::new(AtomicUsize::new(begin(band))))
        .collect();
    raddle::scope(|scope| {
        for first in 0..workers {
            let next = &next;
            scope.spawn(move || {
                for band in (first..workers).chain(0..first) {
                    loop {
                        // Relaxed: the counter publishes nothing else.
                        let tile = next[band].fetch_add(1, Relaxed);
                        if tile >= begin(band + 1) {
                            break;
                        }
                        work(tile);
                    }
                }
            });
        }
    });
}

impl Workload for Frames {
    fn measure(&self, runner: Runner) -> Sample {
        timed(1, || {
            let parts = match runner {
                Runner::Pool => raddle::worker_count(),
                Runner::Stack => 1,
            };
            self.render_tiles(|tile_count, work| {
                runner.run(Tiles {
                    work,
                    tiles: 0..tile_count,
                    parts,
                });
            })
        })
    }
}

/// A task: one tile, or tiles that become tasks.
#[derive(Clone)]
struct Tiles<'work> {
    work: &'work (dyn Fn(usize) + Sync),
    tiles: Range<usize>,
    /// The number of parts into which the tiles are divided first, one for each worker.
    parts: usize,
}

impl Job for Tiles<'_> {
    fn run(self, put: &mut impl FnMut(Self)) {
        if self.tiles.len() == 1 {
            return (self.work)(self.tiles.start);
        }
        let parts = if self.parts > 1 {
            self.parts
        } else {
            self.tiles.len()
        };
        let (start, len) = (self.tiles.start, self.tiles.len());
        for part in 0..parts {
            let tiles = start + part * len / parts..start + (part + 1) * len / parts;
            if !tiles.is_empty() {
                put(Self {
                    tiles,
                    parts: 1,
                    ..self
                });
            }
        }
    }
}
