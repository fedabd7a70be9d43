import APIProvider
import APIProviderMocks
import Foundation

extension Replay {
    /// The nearest entries and what differs, for a request that none answers. Secrets of the request are shown by their names.
    func report(of exchange: RecordedExchange, _ sent: NormalizedRequest) -> String {
        let shown = NormalizedRequest(
            SecretReplacer([exchange], hidden, ignoring: SecretNames(), reservedPlaceholders: Set(placeholders.origins.keys))
                .redactedExchanges[0], placeholders,
            ignoring: ignored, forAnyHost: isForAnyHost)
        let near = nearest(to: sent, shown: shown, in: entries).prefix(3)
        guard !near.isEmpty else { return "The recording has no entry that can be read.\(unreadable)" }
        var text = "None of the \(entries.count) entries of the recording answers it. The nearest:"
        if entries.count == 1 { text = "The one entry of the recording does not answer it:" }
        for (entry, differences) in near {
            text += "\n\n    \(entry.exchange.requestSummary) (\(entry.entryPath))"
            for difference in differences.list.prefix(4) { text += "\n    \(difference.description)" }
            if let conflict = differences.conflict { text += "\n    \(conflict): expected one secret wherever it stands, got several" }
        }
        if let suggestion = near.first?.1.suggestion { text += "\n\n\(suggestion)" }
        return text + unreadable
    }

    /// The names of the values in which a request differs from the nearest unused entry. Empty if it also differs in what an app does not
    /// generate in each run.
    func namesOfGeneratedValues(in exchange: RecordedExchange) -> Set<String> {
        let sent = NormalizedRequest(exchange, placeholders, ignoring: ignored, forAnyHost: isForAnyHost)
        let unused = entries.indices.filter { uses[$0] == 0 }.map { entries[$0] }
        return nearest(to: sent, shown: sent, in: unused).first?.1.namesOfGeneratedValues ?? []
    }

    private func nearest(to sent: NormalizedRequest, shown: NormalizedRequest, in entries: [Entry]) -> [(Entry, Differences)] {
        let found = entries.filter { $0.problem == nil }.map { entry in
            var finder = DifferenceFinder(placeholders, bindings)
            finder.compare(Sides(recorded: entry.shape, sent: sent, shown: shown), entry.significantHeaders)
            return (entry, finder.differences)
        }
        return found.enumerated().sorted { ($0.element.1.distance, $0.offset) < ($1.element.1.distance, $1.offset) }.map(\.element)
    }

    private var unreadable: String {
        let unreadable = entries.filter { $0.problem != nil }
        guard let first = unreadable.first else { return "" }
        return "\n\n\(unreadable.count) of them cannot be read. The first is \(first.entryPath): \(first.problem ?? "")"
    }
}
