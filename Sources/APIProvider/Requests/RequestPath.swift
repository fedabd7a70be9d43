/// The path of a request, as plain text: it is escaped when the URL is built, so it never holds a `%2F` of its own.
///
/// What is interpolated is one segment, whatever it holds: in `"/repos/\(owner)/\(name)"` a slash in `name` becomes `%2F`. An interpolation
/// that is empty, or that makes its segment `.` or `..`, makes the request invalid, so that `"/users/\(login)"` cannot become `/users/`.
public struct RequestPath: ExpressibleByStringInterpolation, Sendable {
    let percentEncoded: String
    /// Why no URL can be built with this path.
    let problem: String?

    /// A path whose slashes separate its segments.
    public init(_ path: String) {
        percentEncoded = path.percentEncoded(except: .path)
        problem = nil
    }

    /// A path whose slashes separate its segments.
    public init(stringLiteral path: String) { self.init(path) }

    /// A path with interpolated segments.
    public init(stringInterpolation: StringInterpolation) {
        percentEncoded = stringInterpolation.percentEncoded
        problem = stringInterpolation.problem ?? stringInterpolation.segmentProblem
    }

    /// Collects the parts of an interpolated path.
    public struct StringInterpolation: StringInterpolationProtocol, Sendable {
        fileprivate var percentEncoded = ""
        fileprivate var problem: String?
        /// Whether the segment that is being written has an interpolation in it.
        private var isInterpolated = false

        /// Starts an empty path.
        public init(literalCapacity: Int, interpolationCount: Int) {
            percentEncoded.reserveCapacity(literalCapacity + interpolationCount * 16)
        }

        /// Appends text whose slashes separate segments.
        public mutating func appendLiteral(_ literal: String) {
            guard let slash = literal.firstIndex(of: "/") else { return percentEncoded += literal.percentEncoded(except: .path) }
            percentEncoded += String(literal[..<slash]).percentEncoded(except: .path)
            problem = problem ?? segmentProblem
            isInterpolated = false
            percentEncoded += String(literal[slash...]).percentEncoded(except: .path)
        }

        /// Appends text that stays within its segment.
        public mutating func appendInterpolation(_ segment: some CustomStringConvertible) {
            let text = segment.description
            if text.isEmpty { problem = problem ?? "a value interpolated into the path after \"\(percentEncoded)\" is empty" }
            percentEncoded += text.percentEncoded(except: .unreserved)
            isInterpolated = true
        }

        fileprivate var segmentProblem: String? {
            guard isInterpolated, let segment = percentEncoded.split(separator: "/").last, segment == "." || segment == ".." else {
                return nil
            }
            return "the interpolated path segment \"\(segment)\" would lead to another resource"
        }
    }
}
