import APIProvider
import Foundation

extension Scope {
    /// Records a mistake in the test's setup, once.
    func record(_ failure: MockFailure, at place: Stub.SourceLocation? = nil) {
        let problem = Problem(text: failure.description, place: place)
        contents.withLock {
            $0.failures.insert(failure.id)
            if !$0.problems.contains(problem) { $0.problems.append(problem) }
        }
    }

    /// The test's problems: mistakes and requests without an answer, in order, and then unused stubs and wrong numbers of requests.
    ///
    /// With answers and without requests, the first problem says how to create the provider.
    var problems: [Problem] {
        let contents = contents.withLock { $0 }
        guard !contents.isEnded else {
            let text = "The scope \"\(name)\" has ended, and its stubs are gone. Call verify() before its end."
            return [Problem(text: text + lateAnswersText)]
        }
        var problems = StubProblems(stubs: Array(zip(contents.stubs, contents.uses)), requests: contents.requests).problems
        guard contents.requests.isEmpty, contents.problems.isEmpty else { return contents.problems + problems }
        let answer = contents.defaultAnswer.name
        if !problems.isEmpty {
            problems[0].text += " " + noRequestReport(configuredAnswer: answer)
        } else if answer != nil {
            problems = [Problem(text: noRequestReport(configuredAnswer: answer))]
        }
        return problems
    }

    /// The report on a test that set up `answer`, and sent no request.
    func noRequestReport(configuredAnswer answer: String?) -> String {
        """
        \(answer.map { "\($0) was set up, but no" } ?? "No") request has reached this mock. If a request failed before sending, its error says \
        why. A provider or session created without the mock uses the network, and one in a static or a global reaches the mock of the test \
        that created it. Create yours inside the test: \
        DefaultAPIProvider(baseURL: …, configuration: MockURLProtocol.configuration), or URLSession(configuration: \
        MockURLProtocol.configuration). A URLSession with a configuration of your own also needs \
        usesClassicLoadingMode = true on Apple's systems.\(strayRequests)
        """
    }

    /// A sentence about requests to the process's mock since this scope began; empty without any.
    private var strayRequests: String {
        guard self !== Scope.process else { return "" }
        let strays = Scope.process.contents.withLock { $0.requests.dropFirst(earlierRequestCount) }
        guard let first = strays.first else { return "" }
        let line = "\(first)".prefix { !$0.isNewline }
        let requests = strays.count == 1 ? "\(line) has" : "\(strays.count) requests, such as \(line), have"
        return " Meanwhile, \(requests) reached the mock of the whole process, from a provider or session created outside this scope."
    }
}
