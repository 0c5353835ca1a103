//! The reader of Steelyard: large files of JSON, nearly all of which are long lists of numbers.
//!
//! `steelyard-read VALUES LISTS TEXTS < FILE` writes, in this machine's byte order: the SHA-256 of the
//! file; how many lists were packed, and the lengths of the pickle and of the text, each in 64 bits; all
//! of the file but those lists as a pickle for Python, in which each of them is the next buffer; the text;
//! how many numbers each list has, in 64 bits; and the numbers, 64 bits each. The text is the file's own
//! where the file is one of pyperf's: of its runs, the pickle has only what is read, and the text has all
//! but their values, with the number of these in their place. Else it is empty. The program refuses, and writes nothing, what it cannot tell
//! just as Python's own reader would, and what has more than so many values, lists and objects, or texts.

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
    // SAFETY: whoever cuts the file meanwhile ends this process, which Steelyard takes for a refusal; whoever writes to
    // it gets some of both states, as any other reader would. No text of it is kept: all are checked and copied.
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
