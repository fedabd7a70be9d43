/// What the reader of a stream sees, and how leaving ends it.
let streams = [
    StreamDiagram(
        path: "Sources/APIProvider/APIProvider.docc/Pictures/reading", code: ["for try await event in events { … }"],
        received: ["head", "a", "b", "c"], end: .ended,
        description: "The head, a, b and c come from the server. The Single succeeds with the head, and the loop gets a, b and c."),
    StreamDiagram(
        path: "Sources/APIProvider/APIProvider.docc/Pictures/leaving",
        code: [".flatMap { events in events.forEach { … } }", ".subscribe()"],
        received: ["head", "a", "b"], end: .left,
        description: "The head, a and b come. The subscription is disposed, and the server sees that its connection is closed."),
]

/// A server above, the code, and below it what the code gets.
struct StreamDiagram: Sendable {
    enum End { case ended, left }

    let path: String
    let code: [String]
    let received: [String]
    let end: End
    let description: String

    private let left = 150.0, step = 110.0, top = 36.0

    var picture: Picture { Picture(path: path, draw: draw) }

    private func x(_ index: Int) -> Double { left + step * (Double(index) + 0.5) }

    private func draw(_ palette: Palette) -> SVG {
        let boxHeight = Double(code.count) * 21 + 20
        let bottom = top + 44 + boxHeight + 44
        var svg = SVG(width: 720, height: Int(bottom + 36), description: description, palette: palette)
        let last = x(received.count)
        for (y, name) in [(top, "server"), (bottom, "reader")] {
            svg.text(name, at: Point(left - 12, y + 4), anchor: "end", .line, isBold: true)
            svg.line(from: Point(left, y), to: Point(last, y), .line, width: 2)
            svg.line(from: Point(last, y - 10), to: Point(last, y + 10), .line, width: 3)
        }
        for (index, text) in received.enumerated() {
            svg.line(from: Point(x(index), top), to: Point(x(index), bottom), .line, dashed: true, width: 1)
            let (sent, seen) = index == 0 ? ("200 OK", "stream") : (text, text)
            svg.pill(sent, at: Point(x(index), top), .orange)
            svg.pill(seen, at: Point(x(index), bottom), index == 0 ? .result : .blue)
        }
        svg.box(at: Point(12, top + 44), width: 696, height: boxHeight, fill: .box, stroke: .border)
        for (index, line) in code.enumerated() {
            svg.text(line, at: Point(28, top + 44 + 26 + Double(index) * 21), size: 15, anchor: "start", isBold: true)
        }
        let words = end == .left ? ("connection closed", "disposed") : ("end", "end")
        svg.text(words.0, at: Point(last + 10, top + 4), size: 13, anchor: "start", .line)
        svg.text(words.1, at: Point(last + 10, bottom + 4), size: 13, anchor: "start", .line)
        return svg
    }
}
