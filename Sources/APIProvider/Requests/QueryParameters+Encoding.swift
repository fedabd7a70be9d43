public import Foundation

extension QueryParameters {
    /// Creates parameters with the members of `value`, sorted by name: `try QueryParameters(encoding: filter)`.
    ///
    /// A `nil` member is left out, and an array repeats the name. Names and dates are written by `encoder`: by default, a property's name
    /// unchanged, and a date as in any query: `2026-11-21T09:30:00.250Z`.
    ///
    /// - Throws: `EncodingError` if `value` has no members, if a member is an object or contains arrays, or if a number, such as a `Decimal`,
    ///   has more digits than an `Int` or a `Double`. The errors of `encoder`. No `EncodingError` contains a value.
    public init(encoding value: some Encodable, encoder: JSONEncoder = .writingDatesAsInQueries) throws {
        func fail(_ problem: String) -> EncodingError { .invalidValue(type(of: value), .init(codingPath: [], debugDescription: problem)) }
        guard case .object(let members) = try JSONValue(encoding: value, encoder: encoder) else {
            throw fail("A query needs named members.")
        }
        self.init([URLQueryItem]())
        for (name, member) in members.inOrder() {
            for element in member.array ?? [member] where !element.isNull {
                guard element.array == nil, element.object == nil else {
                    throw fail("The member \(name) is neither a value nor a list of values, so a query cannot contain it.")
                }
                append(name, element.string ?? element.description)
            }
        }
    }
}

extension JSONEncoder {
    @usableFromInline static var writingDatesAsInQueries: JSONEncoder {
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .custom { date, encoder in try date.iso8601.encode(to: encoder) }
        return encoder
    }
}
