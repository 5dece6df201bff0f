// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

// A worthless dollar for a local chain: ERC-20 with EIP-3009, like USDC, USD₮0 and USDG. No constructor and
// no immutable values, so that its code can be put at the real token's address; `open` then sets its name.
// After a change, compile it with the optimizer on (200 runs, EVM version cancun, no metadata) and write the runtime code
// to sandbox-token.json. The revert texts are Circle's: facilitators tell the reasons apart by them.

interface ISmartWallet {
    function isValidSignature(bytes32 digest, bytes calldata signature) external view returns (bytes4);
}

contract SandboxToken {
    event Transfer(address indexed from, address indexed to, uint256 value);
    event Approval(address indexed owner, address indexed spender, uint256 value);
    event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce);
    event AuthorizationCanceled(address indexed authorizer, bytes32 indexed nonce);

    bytes32 private constant DOMAIN =
        keccak256("EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)");
    bytes32 private constant TRANSFER = keccak256(
        "TransferWithAuthorization(address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce)"
    );
    bytes32 private constant CANCEL = keccak256("CancelAuthorization(address authorizer,bytes32 nonce)");
    uint256 private constant HIGHEST_S = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0;

    string public name;
    string public symbol;
    string public version;
    uint8 public decimals;
    uint256 public totalSupply;
    mapping(address => uint256) public balanceOf;
    mapping(address => mapping(address => uint256)) public allowance;
    mapping(address => mapping(bytes32 => bool)) public authorizationState;

    function open(string calldata name_, string calldata symbol_, string calldata version_, uint8 decimals_) external {
        require(bytes(name).length == 0, "SandboxToken: is open");
        (name, symbol, version, decimals) = (name_, symbol_, version_, decimals_);
    }

    /// Anyone may mint for anyone: the token is worth nothing.
    function mint(address to, uint256 value) external {
        totalSupply += value;
        balanceOf[to] += value;
        emit Transfer(address(0), to, value);
    }

    function transfer(address to, uint256 value) external returns (bool) {
        _move(msg.sender, to, value);
        return true;
    }

    function approve(address spender, uint256 value) external returns (bool) {
        allowance[msg.sender][spender] = value;
        emit Approval(msg.sender, spender, value);
        return true;
    }

    function transferFrom(address from, address to, uint256 value) external returns (bool) {
        uint256 allowed = allowance[from][msg.sender];
        require(value <= allowed, "ERC20: transfer amount exceeds allowance");
        allowance[from][msg.sender] = allowed - value;
        _move(from, to, value);
        return true;
    }

    function DOMAIN_SEPARATOR() public view returns (bytes32) {
        bytes32 nameHash = keccak256(bytes(name));
        bytes32 versionHash = keccak256(bytes(version));
        return keccak256(abi.encode(DOMAIN, nameHash, versionHash, block.chainid, address(this)));
    }

    function transferWithAuthorization(
        address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce,
        uint8 v, bytes32 r, bytes32 s
    ) external {
        transferWithAuthorization(from, to, value, validAfter, validBefore, nonce, abi.encodePacked(r, s, v));
    }

    function transferWithAuthorization(
        address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce,
        bytes memory signature
    ) public {
        require(block.timestamp > validAfter, "FiatTokenV2: authorization is not yet valid");
        require(block.timestamp < validBefore, "FiatTokenV2: authorization is expired");
        bytes32 message = keccak256(abi.encode(TRANSFER, from, to, value, validAfter, validBefore, nonce));
        _use(from, nonce, message, signature);
        emit AuthorizationUsed(from, nonce);
        _move(from, to, value);
    }

    function cancelAuthorization(address authorizer, bytes32 nonce, uint8 v, bytes32 r, bytes32 s) external {
        cancelAuthorization(authorizer, nonce, abi.encodePacked(r, s, v));
    }

    function cancelAuthorization(address authorizer, bytes32 nonce, bytes memory signature) public {
        _use(authorizer, nonce, keccak256(abi.encode(CANCEL, authorizer, nonce)), signature);
        emit AuthorizationCanceled(authorizer, nonce);
    }

    function _use(address authorizer, bytes32 nonce, bytes32 message, bytes memory signature) private {
        require(!authorizationState[authorizer][nonce], "FiatTokenV2: authorization is used or canceled");
        _check(authorizer, keccak256(abi.encodePacked(hex"1901", DOMAIN_SEPARATOR(), message)), signature);
        authorizationState[authorizer][nonce] = true;
    }

    function _check(address signer, bytes32 digest, bytes memory signature) private view {
        if (signer.code.length > 0) {
            bytes4 answer = ISmartWallet(signer).isValidSignature(digest, signature);
            require(answer == ISmartWallet.isValidSignature.selector, "FiatTokenV2: invalid signature");
            return;
        }
        require(signature.length == 65, "ECRecover: invalid signature length");
        (bytes32 r, bytes32 s) = abi.decode(signature, (bytes32, bytes32));
        uint8 v = uint8(signature[64]);
        require(uint256(s) <= HIGHEST_S, "ECRecover: invalid signature 's' value");
        require(v == 27 || v == 28, "ECRecover: invalid signature 'v' value");
        address recovered = ecrecover(digest, v, r, s);
        require(recovered != address(0) && recovered == signer, "FiatTokenV2: invalid signature");
    }

    function _move(address from, address to, uint256 value) private {
        require(to != address(0), "ERC20: transfer to the zero address");
        require(value <= balanceOf[from], "ERC20: transfer amount exceeds balance");
        balanceOf[from] -= value;
        balanceOf[to] += value;
        emit Transfer(from, to, value);
    }
}
