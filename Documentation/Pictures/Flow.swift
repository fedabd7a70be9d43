/// The way of a request to its response.
let flow = Picture(path: "Documentation/Guide.docc/Pictures/flow") { palette in
    var svg = SVG(
        width: 720, height: 176,
        description: "A request is built, goes through the middlewares to the transport, and its response comes back the same way.",
        palette: palette)
    func box(_ title: String, _ caption: String, at x: Double, _ y: Double, _ color: Color) {
        svg.box(at: Point(x, y), width: 152, height: 56, fill: .box, stroke: color)
        svg.text(title, at: Point(x + 76, y + 25), isBold: true)
        svg.text(caption, at: Point(x + 76, y + 43), size: 11, .line)
    }
    func arrow(from start: Point, to end: Point) {
        svg.line(from: start, to: end, .line)
        let (dx, dy) = end.x == start.x ? (0.0, end.y > start.y ? 1.0 : -1) : (end.x > start.x ? 1.0 : -1, 0)
        svg.line(from: Point(end.x - 6 * dx - 4 * dy, end.y - 6 * dy - 4 * dx), to: end, .line)
        svg.line(from: Point(end.x - 6 * dx + 4 * dy, end.y - 6 * dy + 4 * dx), to: end, .line)
    }
    box("APIRequest", "a value", at: 4, 12, .blue)
    box("Endpoint", "path, query, body", at: 192, 12, .border)
    box("middlewares", "retry, tokens, log", at: 380, 12, .border)
    box("transport", "URLSession or stubs", at: 564, 12, .orange)
    box("Single<Response>", "a value or an error", at: 4, 108, .result)
    box("decode", "JSON, or your own", at: 192, 108, .border)
    box("validate", "200...299", at: 380, 108, .border)
    box("APIResponse", "status, headers, body", at: 564, 108, .orange)
    for x in [156.0, 344, 532] {
        arrow(from: Point(x + 2, 40), to: Point(x + 34 - (x == 532 ? 4 : 0), 40))
        arrow(from: Point(x + 34 - (x == 532 ? 4 : 0), 136), to: Point(x + 2, 136))
    }
    arrow(from: Point(640, 70), to: Point(640, 106))
    return svg
}
