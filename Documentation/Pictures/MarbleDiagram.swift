import Foundation
import MiniRx

/// What an operator does, run in virtual time and drawn: the subscriptions to its sources above, its code, and what its subscribers see
/// below.
struct MarbleDiagram: Sendable {
    private let name: String
    private let code: [String]
    private let stage = Stage()

    /// Runs `make`. Its code, from the first line that begins with a dot, is what the picture shows.
    init<Element: Sendable>(
        _ name: String, subscribingAt times: [Double] = [0], disposingAt end: Double? = nil, file: String = #filePath, line: Int = #line,
        _ make: (Stage) -> Single<Element>
    ) {
        self.name = name
        code = Self.code(of: file, from: line)
        stage.run(make(stage), subscribingAt: times, disposingAt: end)
    }

    var picture: Picture {
        Picture(path: "Sources/MiniRx/MiniRx.docc/Pictures/\(name)", draw: draw)
    }

    private static func code(of file: String, from line: Int) -> [String] {
        guard let text = try? String(contentsOfFile: file, encoding: .utf8) else { return [] }
        let lines = text.components(separatedBy: "\n").dropFirst(line).prefix { $0 != "    }," }
        let code = lines.drop { !$0.trimmingCharacters(in: .whitespaces).hasPrefix(".") }
        let indentation = code.first?.prefix { $0 == " " }.count ?? 0
        return code.map { String($0.dropFirst(indentation)) }
    }

    private let left = 40.0, right = 690.0, laneHeight = 46.0, radius = 15.0

    private var span: Double {
        let lanes = stage.sources + stage.results
        let times = lanes.flatMap { [$0.start, $0.disposed ?? 0] + $0.marks.map(\.time) } + stage.log.map(\.time)
        return max(4, (times.max() ?? 0) + 1)
    }

    private func x(_ time: Double) -> Double { left + time * (right - left) / span }

    private func draw(_ palette: Palette) -> SVG {
        let boxHeight = Double(code.count) * 21 + 20
        let boxTop = 14 + laneHeight * Double(stage.sources.count)
        let hasLog = !stage.log.isEmpty
        let logTop = boxTop + boxHeight + 12
        let resultTop = logTop + (hasLog ? 38 : 0)
        let bottom = resultTop + laneHeight * Double(stage.results.count) + 4
        var svg = SVG(width: 720, height: Int(bottom + 26), description: summary, palette: palette)

        for second in 0...Int(span) where x(Double(second)) <= right {
            svg.line(from: Point(x(Double(second)), 8), to: Point(x(Double(second)), bottom), .grid, width: 1)
            svg.text("\(second) s", at: Point(x(Double(second)), bottom + 16), size: 13, .line)
        }
        for (index, lane) in stage.sources.enumerated() {
            let y = 10 + laneHeight * (Double(index) + 0.5)
            for mark in lane.marks {
                svg.line(from: Point(x(mark.time), y), to: Point(x(mark.time), boxTop), .line, dashed: true, width: 1)
            }
            let colors: [Color] = [.blue, .orange, .green]
            draw(lane, at: y, colors[index % 3], in: &svg)
        }
        let results =
            stage.results.enumerated().flatMap { index, lane in lane.marks.map { (index, $0.time) } } + stage.log.map { (0, $0.time) }
        for (index, time) in results {
            let y = resultTop + laneHeight * (Double(index) + 0.5)
            svg.line(from: Point(x(time), boxTop + boxHeight), to: Point(x(time), y), .line, dashed: true, width: 1)
        }
        svg.box(at: Point(12, boxTop), width: 696, height: boxHeight, fill: .box, stroke: .border)
        for (index, line) in code.enumerated() {
            svg.text(line, at: Point(28, boxTop + 26 + Double(index) * 21), size: 15, anchor: "start", isBold: true)
        }
        for mark in stage.log {
            let width = Double(mark.value?.count ?? 0) * 13 * SVG.characterWidth + 14
            let center = max(x(mark.time), width / 2 + 2)
            svg.box(at: Point(center - width / 2, logTop), width: width, height: 22, radius: 4, fill: .box, stroke: .line)
            svg.text(mark.value ?? "", at: Point(center, logTop + 15.5), size: 13)
        }
        for (index, lane) in stage.results.enumerated() {
            draw(lane, at: resultTop + laneHeight * (Double(index) + 0.5), .result, in: &svg)
        }
        return svg
    }

    private func draw(_ lane: Stage.Lane, at y: Double, _ color: Color, in svg: inout SVG) {
        let end = lane.disposed ?? lane.marks.map(\.time).max() ?? span
        svg.line(from: Point(x(lane.start), y), to: Point(x(end), y), .line, width: 2)
        svg.line(from: Point(x(lane.start), y - 7), to: Point(x(lane.start), y + 7), .line, width: 2)
        if !lane.name.isEmpty { svg.text(lane.name, at: Point(x(lane.start) - 8, y + 4), anchor: "end", .line, isBold: true) }
        if let place = lane.place { svg.text(place, at: Point(x(lane.start) + 6, y + 20), size: 13, anchor: "start", .line) }
        if let disposed = lane.disposed {
            svg.line(from: Point(x(disposed), y - 10), to: Point(x(disposed), y + 10), .line, width: 3)
            svg.text("disposed", at: Point(x(disposed) + 8, y + 4), size: 13, anchor: "start", .line)
        } else if lane.marks.isEmpty {
            svg.text("…", at: Point(right + 10, y + 4), .line)
        }
        for mark in lane.marks {
            let center = x(mark.time)
            if let value = mark.value {
                let half = max(radius, Double(value.count) * 14 * SVG.characterWidth / 2 + 8)
                svg.box(at: Point(center - half, y - radius), width: half * 2, height: radius * 2, radius: radius, fill: color)
                svg.text(value, at: Point(center, y + 5), size: 14, .onColor, isBold: true)
            } else {
                svg.line(from: Point(center - 9, y - 9), to: Point(center + 9, y + 9), .error, width: 3.5)
                svg.line(from: Point(center - 9, y + 9), to: Point(center + 9, y - 9), .error, width: 3.5)
            }
            if let error = mark.error { svg.text(error, at: Point(center + 16, y + 4), size: 14, anchor: "start", .error) }
            if let place = mark.place { svg.text(place, at: Point(center, y + 26), size: 13, .line) }
        }
    }

    /// The diagram in words.
    private var summary: String {
        let sources = stage.sources.map { "A source, subscribed to at \($0.start.short) s: \($0.words)." }
        let log =
            stage.log.isEmpty
            ? [] : ["Logged: " + stage.log.map { "\($0.value ?? "") at \($0.time.short) s" }.joined(separator: ", ") + "."]
        let results = stage.results.map { "A subscriber from \($0.start.short) s: \($0.words)." }
        return (sources + [code.joined(separator: " ")] + log + results).joined(separator: " ")
    }
}

extension Stage.Lane {
    fileprivate var words: String {
        if let disposed { return "disposed at \(disposed.short) s" }
        guard let mark = marks.first else { return "no event" }
        return (mark.value.map { "the value \($0)" } ?? "an error") + " at \(mark.time.short) s" + (mark.place.map { " on \($0)" } ?? "")
    }
}
