//! Properties of texts.

use std::collections::BTreeMap;

/// How often each word occurs.
#[must_use]
pub fn word_counts(text: &str) -> BTreeMap<&str, usize> {
    let mut counts = BTreeMap::new();
    for word in text.split_ascii_whitespace() {
        *counts.entry(word).or_default() += 1;
    }
    counts
}

/// The edit distance: how many letters to insert, delete or replace to turn one word into the other.
#[must_use]
pub fn edit_distance(one: &[u8], other: &[u8]) -> usize {
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (above, letter) in one.iter().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], above + 1);
        for (column, other_letter) in other.iter().enumerate() {
            let replaced = diagonal + usize::from(letter != other_letter);
            diagonal = row[column + 1];
            row[column + 1] = replaced.min(diagonal + 1).min(row[column] + 1);
        }
    }
    row[other.len()]
}

/// Whether a text reads the same backwards, ignoring spaces and case.
#[must_use]
pub fn is_palindrome(text: &str) -> bool {
    let letters = || text.chars().filter(|letter| letter.is_alphanumeric());
    let forwards = letters().flat_map(char::to_lowercase);
    let backwards = letters().rev().flat_map(char::to_lowercase);
    forwards.eq(backwards)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_counted() {
        let counts = word_counts("to be or not to be");
        assert_eq!(counts["to"], 2);
        assert_eq!(counts.len(), 4);
    }

    #[test]
    fn distances_are_the_shortest() {
        assert_eq!(edit_distance(b"kitten", b"sitting"), 3);
        assert_eq!(edit_distance(b"", b"abc"), 3);
    }

    #[test]
    fn palindromes_are_seen() {
        assert!(is_palindrome("A man, a plan, a canal: Panama"));
        assert!(!is_palindrome("no, not"));
    }
}
