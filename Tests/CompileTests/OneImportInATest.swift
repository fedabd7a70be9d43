// flags: -enable-upcoming-feature MemberImportVisibility
// A new project asks for the import of the module in each file that uses a member. The mocks bring along what a test needs.
import APIProviderMocks

func accept() -> String? {
    MockURLProtocol.requests.first?.headers["Accept"]
}
