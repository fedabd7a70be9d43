import Foundation

/// A terminal's window with what a program has printed.
func terminal(_ path: String, title: String, command: String? = nil, output: String, color: @escaping @Sendable (String) -> Color)
    -> Picture
{
    let lines = (command.map { ["$ \($0)"] } ?? []) + output.components(separatedBy: "\n")
    let columns = max(60, lines.map(\.count).max() ?? 0)
    let size = 12.5, lineHeight = 18.0
    return Picture(path: path) { palette in
        let width = Double(columns) * size * SVG.characterWidth + 40
        let height = Double(lines.count) * lineHeight + 58
        var svg = SVG(width: Int(width), height: Int(height), description: "\(title): \(output)", palette: palette)
        svg.box(
            at: Point(0.5, 0.5), width: Double(Int(width)) - 1, height: Double(Int(height)) - 1, radius: 10, fill: .box, stroke: .border)
        for (index, dot) in ([.error, .orange, .green] as [Color]).enumerated() {
            svg.box(at: Point(16 + Double(index) * 18, 13), width: 10, height: 10, radius: 5, fill: dot)
        }
        svg.text(title, at: Point(width / 2, 22), size: 12, .line)
        for (index, line) in lines.enumerated() where !line.isEmpty {
            let indentation = line.prefix { $0 == " " }.count
            let text = String(line.dropFirst(indentation))
            svg.text(
                text, at: Point(20 + Double(indentation) * size * SVG.characterWidth, 56 + Double(index) * lineHeight), size: size,
                anchor: "start", index == 0 && command != nil ? .blue : color(line), columns: text.allSatisfy(\.isASCII) ? text.count : nil)
        }
        return svg
    }
}
