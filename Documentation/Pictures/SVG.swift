import Foundation

/// The elements of an SVG picture, in the colors of one appearance.
struct SVG {
    let palette: Palette
    private let width: Int
    private let height: Int
    private let description: String
    private var elements: [String] = []

    /// - Parameter description: What screen readers say.
    init(width: Int, height: Int, description: String, palette: Palette) {
        (self.width, self.height, self.description, self.palette) = (width, height, description, palette)
    }

    var text: String {
        """
        <svg xmlns="http://www.w3.org/2000/svg" width="\(width)" height="\(height)" viewBox="0 0 \(width) \(height)" role="img">
        <title>\(description.escaped)</title>
        \(elements.joined(separator: "\n"))
        </svg>

        """
    }

    mutating func line(from start: Point, to end: Point, _ color: Color, dashed: Bool = false, width: Double = 1.5) {
        let dashes = dashed ? #" stroke-dasharray="3 4""# : ""
        elements.append(
            #"<path d="M\#(start) L\#(end)" stroke="\#(palette[color])" stroke-width="\#(width.short)" fill="none"\#(dashes)/>"#)
    }

    mutating func box(
        at origin: Point, width: Double, height: Double, radius: Double = 8, fill: Color,
        stroke: Color? = nil
    ) {
        let border = stroke.map { #" stroke="\#(palette[$0])""# } ?? ""
        elements.append(
            #"<rect x="\#(origin.x.short)" y="\#(origin.y.short)" width="\#(width.short)" height="\#(height.short)" rx="\#(radius.short)" "#
                + #"fill="\#(palette[fill])"\#(border)/>"#)
    }

    /// - Parameter columns: How many characters wide the text is made, whichever font is there.
    mutating func text(
        _ text: String, at point: Point, size: Double = 13, anchor: String = "middle", _ color: Color = .text,
        isBold: Bool = false, columns: Int? = nil
    ) {
        let weight = isBold ? #" font-weight="600""# : ""
        let length =
            columns.map { #" textLength="\#((Double($0) * size * SVG.characterWidth).short)" lengthAdjust="spacingAndGlyphs""# } ?? ""
        elements.append(
            #"<text x="\#(point.x.short)" y="\#(point.y.short)" font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, monospace" "#
                + #"font-size="\#(size.short)" text-anchor="\#(anchor)" fill="\#(palette[color])" xml:space="preserve"\#(weight)\#(length)>"#
                + "\(text.escaped)</text>")
    }

    /// Of a character, in relation to the size of the font.
    static let characterWidth = 0.602
}

struct Point: CustomStringConvertible {
    let x: Double
    let y: Double

    init(_ x: Double, _ y: Double) { (self.x, self.y) = (x, y) }

    var description: String { "\(x.short) \(y.short)" }
}

enum Color: Int {
    case text, line, grid, box, border, blue, orange, green, result, error, onColor
}

/// The colors of one appearance.
struct Palette {
    private let values: [String]

    subscript(color: Color) -> String { values[color.rawValue] }

    static let light = Palette(values: [
        "#1d1d1f", "#6e6e73", "#e3e3e8", "#f5f5f7", "#d2d2d7", "#0066cc", "#a84300", "#197a35", "#7d2bb5", "#c9001c", "#ffffff",
    ])
    static let dark = Palette(values: [
        "#f5f5f7", "#a1a1a6", "#333338", "#1f1f22", "#48484c", "#5eaeff", "#ffab40", "#4bd56f", "#d9a1ff", "#ff6961", "#111113",
    ])
}

extension Double {
    /// With at most one decimal, as the same text on each machine.
    var short: String {
        let tenths = Int((self * 10).rounded())
        return tenths % 10 == 0 ? "\(tenths / 10)" : "\(tenths < 0 ? "-" : "")\(abs(tenths) / 10).\(abs(tenths) % 10)"
    }
}

extension String {
    fileprivate var escaped: String {
        replacingOccurrences(of: "&", with: "&amp;").replacingOccurrences(of: "<", with: "&lt;").replacingOccurrences(of: ">", with: "&gt;")
    }
}

extension SVG {
    /// A word in a round box.
    mutating func pill(_ text: String, at center: Point, _ color: Color) {
        let half = max(15, Double(text.count) * 14 * SVG.characterWidth / 2 + 8)
        box(at: Point(center.x - half, center.y - 15), width: half * 2, height: 30, radius: 15, fill: color)
        self.text(text, at: Point(center.x, center.y + 5), size: 14, .onColor, isBold: true)
    }
}
