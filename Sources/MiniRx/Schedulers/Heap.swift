/// A collection that gives its least element first, in logarithmic time.
struct Heap<Element: Comparable> {
    /// No element is less than its parent, which is at half its index.
    private var elements: [Element] = []

    var count: Int { elements.count }
    var first: Element? { elements.first }

    mutating func insert(_ element: Element) {
        elements.append(element)
        var hole = elements.count - 1
        while hole > 0, element < elements[(hole - 1) / 2] {
            elements[hole] = elements[(hole - 1) / 2]
            hole = (hole - 1) / 2
        }
        elements[hole] = element
    }

    mutating func removeFirst() {
        let element = elements.removeLast()
        guard !elements.isEmpty else { return }
        var hole = 0
        while 2 * hole + 1 < elements.count {
            var child = 2 * hole + 1
            if child + 1 < elements.count, elements[child + 1] < elements[child] { child += 1 }
            guard elements[child] < element else { break }
            elements[hole] = elements[child]
            hole = child
        }
        elements[hole] = element
    }

    /// Removes and returns those that `isUnwanted`.
    mutating func removeAll(where isUnwanted: (Element) -> Bool) -> [Element] {
        let unwanted = elements.filter(isUnwanted)
        elements.removeAll(where: isUnwanted)
        // A sorted array is a heap.
        elements.sort()
        return unwanted
    }
}
