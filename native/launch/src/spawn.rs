//! Everything up to the running target: its files, its directory, its CPUs, the spawn.

use crate::addresses::Addresses;
use crate::failure::{Failure, Stage};
use crate::protocol::{Request, Sink, Text};
use crate::sys::{self, Changed, Gated, Spawner};
use crate::tail::Capture;
use std::fmt::Write as _;
use std::fs::{File, OpenOptions};
use std::io::{self, Read as _};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// The kernel cuts longer first lines as well.
const LONGEST_FIRST_LINE: u64 = 256;

/// The target's fds 0, 1 and 2, and if needed 3 and 4, opened before anything is timed.
pub struct Streams(Vec<OwnedFd>);

impl Streams {
    /// Adds one more stream at the end.
    #[must_use]
    pub fn and(mut self, more: Option<OwnedFd>) -> Self {
        self.0.extend(more);
        self
    }
}

/// Our side of the streams whose tail is wanted.
pub struct Captures {
    /// Standard output.
    pub out: Option<Capture>,
    /// Standard error.
    pub err: Option<Capture>,
    /// What a harness writes to fd 3.
    pub results: Option<Capture>,
}

/// Opens the files that the request names. The standard library makes sure at start that fds 0 to 2 are
/// taken, so all of these are above.
///
/// # Errors
/// A failure of the stream's stage.
pub fn open_streams(request: &Request) -> Result<(Streams, Captures), Failure> {
    let stdin = open_source(request.stdin.as_ref())?;
    let (stdout, out) = open_sink(Stage::Stdout, request.stdout.as_ref())?;
    let (stderr, err) = match &request.stderr {
        // Two openings of one file would overwrite each other's output.
        sink @ Some(Sink::File(path)) if *sink == request.stdout => {
            let shared = stdout
                .try_clone()
                .map_err(|error| Failure::system(Stage::Stderr, &opening(path.path()), &error))?;
            (shared, None)
        }
        sink => open_sink(Stage::Stderr, sink.as_ref())?,
    };
    let mut streams = vec![stdin, stdout, stderr];
    let results = match request.results {
        None => None,
        Some(keep) => {
            let (capture, write) = piped(Stage::Results, keep)?;
            streams.push(write);
            Some(capture)
        }
    };
    Ok((Streams(streams), Captures { out, err, results }))
}

/// Drops what is written as fast as `/dev/null`, but GNU grep and tar recognise that one, and skip most of their work
/// if it is their output.
const NOWHERE: &str = "/dev/zero";

fn open_source(path: Option<&Text>) -> Result<OwnedFd, Failure> {
    let path = path.map_or(Path::new("/dev/null"), Text::path);
    open(OpenOptions::new().read(true), Stage::Stdin, path)
}

fn open_sink(stage: Stage, sink: Option<&Sink>) -> Result<(OwnedFd, Option<Capture>), Failure> {
    let mut options = OpenOptions::new();
    options.write(true);
    match sink {
        None => {
            // A minimal root file system may have no other device.
            let nowhere = open(&mut options, stage, Path::new(NOWHERE))
                .or_else(|_| open(&mut options, stage, Path::new("/dev/null")))?;
            Ok((nowhere, None))
        }
        Some(Sink::File(path)) => {
            options.create(true).truncate(true);
            Ok((open(&mut options, stage, path.path())?, None))
        }
        Some(Sink::Tail(keep)) => {
            let (capture, write) = piped(stage, *keep)?;
            Ok((write, Some(capture)))
        }
    }
}

fn piped(stage: Stage, keep: usize) -> Result<(Capture, OwnedFd), Failure> {
    Capture::open(keep).map_err(|error| Failure::system(stage, "cannot make a pipe", &error))
}

fn open(options: &mut OpenOptions, stage: Stage, path: &Path) -> Result<OwnedFd, Failure> {
    options
        // The server leads a session, and must not get a terminal by opening one; nor may it wait, deaf to its driver,
        // for the process at the other end of a pipe.
        .custom_flags(libc::O_NOCTTY | libc::O_NONBLOCK)
        .open(path)
        .and_then(|file| sys::make_blocking(&file).map(|()| file.into()))
        .map_err(|error| Failure::system(stage, &opening(path), &error))
}

fn opening(path: &Path) -> String {
    format!("cannot open {}", path.display())
}

/// A target that has just been started.
#[derive(Clone, Copy, Debug)]
pub struct Started {
    /// Its number, and that of its group.
    pub pid: i32,
    /// The clock before the spawn.
    pub start_ns: u64,
    /// How long the spawn took.
    pub spawn_ns: u64,
}

/// Starts the target, and closes our copies of its files: with a pipe's write end still open
/// here, its end would never show. What is `changed` here is restored for the target.
///
/// # Errors
/// A failure of stage cwd, affinity or spawn.
pub fn start(request: &Request, streams: Streams, changed: &Changed) -> Result<Started, Failure> {
    let mut spawner = prepared(request, &streams, changed)?;
    let pinned = request.cpus.as_deref().map(Pinned::to).transpose()?;
    let chosen = Addresses::of(request);
    let start_ns = sys::now_ns();
    let spawned = spawner.spawn();
    let spawn_ns = sys::now_ns() - start_ns;
    drop(chosen);
    drop(pinned);
    drop(spawner);
    drop(streams);
    let pid = spawned.map_err(|error| not_spawned(request, &error))?;
    Ok(Started {
        pid,
        start_ns,
        spawn_ns,
    })
}

fn prepared<'a>(
    request: &'a Request,
    streams: &'a Streams,
    changed: &'a Changed,
) -> Result<Spawner<'a>, Failure> {
    if let Some(cwd) = &request.cwd {
        check_directory(cwd)?;
    }
    Ok(Spawner::new(
        request.program.c_string(),
        request.argv.iter().map(Text::c_string),
        request.env.iter().map(Text::c_string),
        request.cwd.as_ref().map(|cwd| cwd.c_string().as_c_str()),
        streams.0.iter().map(AsFd::as_fd),
        changed,
    ))
}

/// Makes a child ready to execute its target, without starting it; closes our copies of its files, like [`start`].
///
/// # Errors
/// A failure of stage cwd or spawn.
pub fn start_gated(
    request: &Request,
    streams: Streams,
    changed: &Changed,
) -> Result<Gated, Failure> {
    let spawner = prepared(request, &streams, changed)?;
    let chosen = Addresses::of(request);
    let gated = Gated::new(&spawner);
    drop(chosen);
    drop(spawner);
    drop(streams);
    gated.map_err(|error| not_spawned(request, &error))
}

/// Checks the directory beforehand, so that an ENOENT of the spawn can only mean the program.
fn check_directory(cwd: &Text) -> Result<(), Failure> {
    sys::enterable(cwd.c_string()).map_err(|error| {
        let doing = format!("cannot change to {}", cwd.path().display());
        Failure::system(Stage::Cwd, &doing, &error)
    })
}

/// Why a target is not executing.
pub fn not_spawned(request: &Request, error: &io::Error) -> Failure {
    let program = request.program.path();
    let mut doing = format!("cannot execute {}", program.display());
    // Where the target would have looked: a relative path starts in its own directory.
    let cwd = request.cwd.as_ref().map_or(Path::new(""), Text::path);
    let file = cwd.join(program);
    if error.raw_os_error() == Some(libc::ENOENT) && file.exists() {
        let why = about_interpreter(&file).unwrap_or_default();
        let _ = write!(
            doing,
            " (the file exists: its interpreter or loader does not{why})"
        );
    }
    Failure::system(Stage::Spawn, &doing, error)
}

/// What the first line of a script says about an interpreter that does not exist; to the kernel, a CR at
/// its end is part of the name, and editors do not show it.
fn about_interpreter(file: &Path) -> Option<String> {
    let mut start = Vec::new();
    let file = File::open(file).ok()?;
    file.take(LONGEST_FIRST_LINE).read_to_end(&mut start).ok()?;
    let line = start
        .strip_prefix(b"#!")?
        .split(|&byte| byte == b'\n')
        .next()?;
    let line = String::from_utf8_lossy(line);
    let name = line.trim_start().split([' ', '\t']).next()?;
    if name.ends_with('\r') {
        let remedy = r", as its first line ends in CR LF: sed -i 's/\r$//' FILE takes the CR away";
        return Some(String::from(remedy));
    }
    Some(format!(": {name}"))
}

/// Confines the server to some CPUs for as long as this lives: children inherit that, so the target
/// never runs elsewhere, not even at first.
pub struct Pinned {
    before: Vec<u64>,
}

impl Pinned {
    /// Confines it.
    ///
    /// # Errors
    /// A failure of stage affinity.
    pub fn to(cpus: &[u16]) -> Result<Self, Failure> {
        let wanted = mask(cpus);
        let refused = |error| {
            let doing = format!("cannot run on CPUs {cpus:?}");
            Failure::system(Stage::Affinity, &doing, &error)
        };
        let pinned = Self {
            before: sys::own_affinity().map_err(refused)?,
        };
        sys::set_own_affinity(&wanted).map_err(refused)?;
        // The kernel silently drops CPUs that it does not have, as long as one is left.
        if sys::own_affinity().map_err(refused)? != wanted {
            return Err(refused(io::Error::from_raw_os_error(libc::EINVAL)));
        }
        Ok(pinned)
    }

    /// Makes the server leave these CPUs to the children that it has started there, if it has others.
    pub fn leave(&self, cpus: &[u16]) {
        let taken = mask(cpus);
        let word = |place: usize| taken.get(place).copied().unwrap_or(0);
        let mut others: Vec<u64> = self
            .before
            .iter()
            .enumerate()
            .map(|(place, allowed)| allowed & !word(place))
            .collect();
        if others.iter().all(|&word| word == 0) {
            others.clone_from(&self.before);
        }
        // If this fails, the server is only in the way of its children.
        let _ = sys::set_own_affinity(&others);
    }

    /// Moves the server back to the CPUs that it has left to its children.
    pub fn join(&self, cpus: &[u16]) {
        // If this fails, it takes care of them from where it is.
        let _ = sys::set_own_affinity(&mask(cpus));
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        // Fails only if all of these CPUs have gone, and then the kernel has already moved us.
        let _ = sys::set_own_affinity(&self.before);
    }
}

fn mask(cpus: &[u16]) -> Vec<u64> {
    let words = cpus
        .iter()
        .max()
        .map_or(0, |&cpu| usize::from(cpu) / 64 + 1);
    let mut mask = vec![0; words];
    for &cpu in cpus {
        mask[usize::from(cpu) / 64] |= 1 << (cpu % 64);
    }
    mask
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mask_has_a_bit_for_each_cpu_and_no_word_too_many() {
        assert_eq!(mask(&[]), Vec::<u64>::new());
        assert_eq!(mask(&[1, 0]), [3]);
        assert_eq!(mask(&[65]), [0, 2]);
    }
}
