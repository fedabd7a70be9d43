extension String {
    /// At most `maximum` bytes of whole characters, with `…` where some are left out.
    package func cut(to maximum: Int) -> String {
        guard utf8.count > maximum else { return self }
        var end = startIndex
        while utf8.distance(from: startIndex, to: index(after: end)) <= maximum - 3 { end = index(after: end) }
        return self[..<end] + "…"
    }
}
