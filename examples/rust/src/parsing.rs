//! Readers of small formats.

/// The sum of the whole numbers between spaces; anything else counts as 0.
#[must_use]
pub fn integers(text: &str) -> i64 {
    let words = text.split_ascii_whitespace();
    words.filter_map(|word| word.parse::<i64>().ok()).sum()
}

/// The sum of the numbers between spaces; anything else counts as 0.
#[must_use]
pub fn floats(text: &str) -> f64 {
    let words = text.split_ascii_whitespace();
    words.filter_map(|word| word.parse::<f64>().ok()).sum()
}

/// The fields of each line; those in quotes may hold commas and doubled quotes.
#[must_use]
pub fn csv(text: &str) -> Vec<Vec<String>> {
    text.lines().map(csv_line).collect()
}

fn csv_line(line: &str) -> Vec<String> {
    let (mut fields, mut field, mut quoted) = (Vec::new(), String::new(), false);
    let mut characters = line.chars().peekable();
    while let Some(character) = characters.next() {
        match (character, quoted) {
            ('"', true) if characters.peek() == Some(&'"') => {
                field.push('"');
                characters.next();
            }
            ('"', _) => quoted = !quoted,
            (',', false) => fields.push(std::mem::take(&mut field)),
            _ => field.push(character),
        }
    }
    fields.push(field);
    fields
}

/// The keys and values of lines like `key = value`, in order; other lines are comments.
#[must_use]
pub fn key_values(text: &str) -> Vec<(&str, &str)> {
    text.lines()
        .filter_map(|line| line.split_once('='))
        .map(|(key, value)| (key.trim(), value.trim()))
        .collect()
}

/// The value of a Roman numeral, none for other letters.
#[must_use]
pub fn roman(numeral: &str) -> Option<u32> {
    let (mut sum, mut last) = (0, 0);
    for letter in numeral.bytes().rev() {
        let value = match letter {
            b'I' => 1,
            b'V' => 5,
            b'X' => 10,
            b'L' => 50,
            b'C' => 100,
            b'D' => 500,
            b'M' => 1000,
            _ => return None,
        };
        if value < last {
            sum -= value;
        } else {
            sum += value;
            last = value;
        }
    }
    Some(sum)
}

/// How deep the brackets of a JSON text are nested, none if they do not match. Strings are skipped.
#[must_use]
pub fn json_depth(text: &str) -> Option<usize> {
    let (mut open, mut deepest) = (Vec::new(), 0);
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        match byte {
            b'"' => skip_string(&mut bytes)?,
            b'[' | b'{' => {
                open.push(byte);
                deepest = deepest.max(open.len());
            }
            b']' if open.pop() != Some(b'[') => return None,
            b'}' if open.pop() != Some(b'{') => return None,
            _ => {}
        }
    }
    open.is_empty().then_some(deepest)
}

fn skip_string(bytes: &mut impl Iterator<Item = u8>) -> Option<()> {
    loop {
        match bytes.next()? {
            b'"' => return Some(()),
            b'\\' => drop(bytes.next()?),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_added() {
        assert_eq!(integers("1 -2 x 30"), 29);
        assert!((floats("1.5 x -0.25e1") + 1.0).abs() < 1e-12);
    }

    #[test]
    fn fields_may_be_quoted() {
        assert_eq!(
            csv("a,\"b,\"\"c\"\"\",\n1"),
            [vec!["a", "b,\"c\"", ""], vec!["1"]]
        );
    }

    #[test]
    fn keys_have_values() {
        assert_eq!(key_values("a = 1\n# no\n b=2 "), [("a", "1"), ("b", "2")]);
    }

    #[test]
    fn romans_wrote_numbers() {
        assert_eq!(roman("MCMXCIV"), Some(1994));
        assert_eq!(roman("ABC"), None);
    }

    #[test]
    fn brackets_match() {
        assert_eq!(json_depth(r#"{"a": [1, {"]": "\"}"}]}"#), Some(3));
        assert_eq!(json_depth("[}"), None);
        assert_eq!(json_depth("[\"]"), None);
    }
}
