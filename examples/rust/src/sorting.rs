//! Sorts that the standard library does not have.

/// Insertion sort: puts each number before the greater ones; good for a few numbers.
pub fn insertion(numbers: &mut [u64]) {
    for end in 1..numbers.len() {
        let number = numbers[end];
        let sorted = &numbers[..end];
        let place = sorted.iter().rposition(|&other| other <= number);
        let place = place.map_or(0, |before| before + 1);
        numbers.copy_within(place..end, place + 1);
        numbers[place] = number;
    }
}

/// Heap sort in place.
pub fn heap(numbers: &mut [u64]) {
    for root in (0..numbers.len() / 2).rev() {
        sift_down(numbers, root);
    }
    for end in (1..numbers.len()).rev() {
        numbers.swap(0, end);
        sift_down(&mut numbers[..end], 0);
    }
}

fn sift_down(numbers: &mut [u64], mut root: usize) {
    loop {
        let mut child = 2 * root + 1;
        if child >= numbers.len() {
            return;
        }
        if child + 1 < numbers.len() && numbers[child] < numbers[child + 1] {
            child += 1;
        }
        if numbers[root] >= numbers[child] {
            return;
        }
        numbers.swap(root, child);
        root = child;
    }
}

/// Radix sort, byte by byte from the lowest.
pub fn radix(numbers: &mut Vec<u64>) {
    let mut sorted = vec![0; numbers.len()];
    for shift in (0..u64::BITS).step_by(8) {
        let digit = |number: u64| (number >> shift) as u8 as usize;
        let mut places = [0; 256];
        for &number in &*numbers {
            places[digit(number)] += 1;
        }
        let mut before = 0;
        for place in &mut places {
            before += std::mem::replace(place, before);
        }
        for &number in &*numbers {
            let place = &mut places[digit(number)];
            sorted[*place] = number;
            *place += 1;
        }
        std::mem::swap(numbers, &mut sorted);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_sort() {
        let mixed: Vec<u64> = (0..300)
            .map(|i: u64| i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (i % 64))
            .collect();
        let mut expected = mixed.clone();
        expected.sort_unstable();
        let sorts: [fn(&mut Vec<u64>); 3] =
            [|numbers| insertion(numbers), |numbers| heap(numbers), radix];
        for sort in sorts {
            let mut numbers = mixed.clone();
            sort(&mut numbers);
            assert_eq!(numbers, expected);
        }
    }
}
