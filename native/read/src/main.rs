//! The reader of Steelyard, for large JSON files that consist mainly of long lists of numbers.
//!
//! `steelyard-read VALUES LISTS TEXTS < FILE` writes, in this machine's byte order: the SHA-256 of the
//! file; how many lists were packed, and the lengths of the pickle and of the text, each in 64 bits; all
//! of the file except those lists as a pickle for Python, in which each of them is the next buffer; the
//! text; how many numbers each list has, in 64 bits; and the numbers, 64 bits each. For a file of pyperf
//! the text is the file's own: the pickle has only what is read of its runs, and the text has everything
//! except their values, which are replaced by their number. Otherwise the text is empty. The program refuses
//! a file, and writes nothing, if it cannot read it just as Python's own reader would, or if it has more
//! values, lists and objects, or texts than these limits.

#![warn(missing_docs)]

mod json;
mod pickle;
mod place;
mod told;

use memmap2::MmapOptions;
use sha2::{Digest, Sha256};
use std::error::Error;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::process::ExitCode;
use std::thread;
use told::{Limits, Told};

const REFUSED: u8 = 1;

fn main() -> ExitCode {
    match read() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("steelyard-read: {error}");
            ExitCode::from(REFUSED)
        }
    }
}

fn read() -> Result<(), Box<dyn Error>> {
    let limits = limits()?;
    let file = File::from(io::stdin().as_fd().try_clone_to_owned()?);
    // SAFETY: if the file is truncated meanwhile, this process is killed, which Steelyard takes as a refusal; if it is
    // written to, we read a mix of both states, as any other reader would. Texts are checked and copied, none is kept.
    let text = unsafe { MmapOptions::new().populate().map(&file)? };
    let (digest, told) = thread::scope(|scope| {
        let digest = scope.spawn(|| Sha256::digest(&text));
        let told = std::str::from_utf8(&text)
            .map_err(|_| "no UTF-8")
            .and_then(|text| Told::of(text, limits));
        (digest.join(), told)
    });
    let told = told?;
    let mut output = File::from(io::stdout().as_fd().try_clone_to_owned()?);
    output.write_all(&digest.map_err(|_| "the digest could not be worked out")?)?;
    told.write(&mut output)?;
    Ok(())
}

fn limits() -> Result<Limits, Box<dyn Error>> {
    let told: Result<Vec<u64>, _> = std::env::args().skip(1).map(|word| word.parse()).collect();
    match told?[..] {
        [values, lists, texts] => Ok(Limits {
            values,
            lists,
            texts,
        }),
        _ => Err("say how many values, lists and texts there may be".into()),
    }
}
