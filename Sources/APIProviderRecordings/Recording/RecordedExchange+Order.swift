import APIProvider
import Foundation

extension [RecordedExchange] {
    /// The exchanges in one order for all runs: of requests in flight together, by method, URL and body without secrets. Each request stays
    /// behind the responses that came before it.
    func ordered(_ options: RecordingOptions) -> [RecordedExchange] {
        guard zip(self, dropFirst()).contains(where: { $1.order.begin < $0.order.end }) else { return self }
        var (ordered, inFlight, rest) = ([RecordedExchange](), [(exchange: RecordedExchange, key: [String])](), self[...])
        while true {
            while let next = rest.first, inFlight.allSatisfy({ next.order.begin < $0.exchange.order.end }) {
                inFlight.append((next, next.key(options)))
                rest.removeFirst()
            }
            let first = inFlight.indices.min { inFlight[$0].key.lexicographicallyPrecedes(inFlight[$1].key) }
            guard let first else { return ordered }
            ordered.append(inFlight.remove(at: first).exchange)
        }
    }
}

extension RecordedExchange {
    /// The method, the values of the URL and then of the rest, without secrets, and the response's body.
    fileprivate func key(_ options: RecordingOptions) -> [String] {
        let values = NamedValue.values(of: options.lines(of: options.stored(self))).map { value in
            let isSecret = options.label(of: value, inResponse: false) != nil || markedSecrets.contains(where: value.text.hasScalars)
            let part = ["host", "path", "query"].firstIndex(where: value.place.hasPrefix) ?? 3
            return "\(part) \(value.place) \(isSecret ? "" : value.text)"
        }
        return [method] + values.sorted() + [[UInt8](response?.body ?? Data()).text]
    }
}
