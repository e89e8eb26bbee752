// The JSON of the API. Written by tests/web/wire_types.py from the structs of /openapi.json:
// change them there, then run `make copies`.

export interface AIProviderSummary {
  id: string;
  type: string;
  name: string;
  display_name: string;
  icon: string;
  enabled: boolean;
  deleted: boolean;
}

export interface AllProviderOptions {
  openai?: OpenAIProviderOptions | null;
  anthropic?: AnthropicProviderOptions | null;
  google?: GoogleProviderOptions | null;
  openaicompat?: OpenAICompatProviderOptions | null;
  openrouter?: OpenRouterProviderOptions | null;
  vercel?: VercelProviderOptions | null;
}

export interface AnthropicProviderOptions {
  send_reasoning?: boolean | null;
  thinking?: ThinkingSettings | null;
  thinking_display?: string | null;
  disable_parallel_tool_use?: boolean | null;
  web_search_enabled?: boolean | null;
  web_fetch_enabled?: boolean | null;
  allowed_domains?: readonly string[] | null;
  blocked_domains?: readonly string[] | null;
  context_1m_enabled?: boolean | null;
}

export interface CallConfig {
  max_output_tokens?: number | null;
  temperature?: number | null;
  top_p?: number | null;
  top_k?: number | null;
  presence_penalty?: number | null;
  frequency_penalty?: number | null;
  reasoning_effort?: ReasoningEffort | null;
  openai_config?: OpenAIConfig | null;
  provider_options?: AllProviderOptions | null;
}

export interface Chat {
  id: string;
  organization_id: string;
  owner_id: string;
  owner_username?: string;
  owner_name?: string;
  workspace_id?: string;
  parent_chat_id?: string;
  root_chat_id: string;
  last_model_config_id: string | null;
  last_reasoning_effort?: string;
  title: string;
  status: string;
  plan_mode?: string;
  approval_policy?: string;
  approvals?: readonly ChatApproval[];
  last_error?: ChatError;
  last_turn_summary: string | null;
  summary: string | null;
  diff_status?: ChatDiffStatus;
  created_at: string;
  updated_at: string;
  archived: boolean;
  shared: boolean;
  pin_order: number;
  mcp_server_ids: readonly string[];
  labels: Record<string, string>;
  files?: readonly ChatFileMetadata[];
  has_unread: boolean;
  attention?: string;
  question?: string;
  context?: ChatContext;
  queued_for_capacity?: boolean;
  place_in_line?: number;
  takeover_seconds?: number;
  search_match?: ChatSearchMatch;
  client_type: string;
  children: readonly Chat[];
}

export interface ChatApproval {
  chat_id: string;
  chat_title: string;
  tool_call_id: string;
  tool_name: string;
  args: string;
  requested_at: string;
  expires_at: string | null;
  suggested_rules: readonly string[];
}

export interface ChatApprovalDecision {
  chat_id: string;
  tool_call_id: string;
  tool_name: string;
  decision: string;
  words: string;
  decided_by: string | null;
  decided_at: string;
}

export interface ChatApprovalGrant {
  tool_name: string;
  granted_by: string;
  granted_at: string;
}

export interface ChatApprovals {
  approvals: readonly ChatApproval[];
  always: readonly ChatApprovalGrant[];
  decided: readonly ChatApprovalDecision[];
}

export interface ChatContext {
  dirty: boolean;
  dirty_since?: string;
  error?: string;
  resources?: readonly ChatContextResource[];
}

export interface ChatContextResource {
  source: string;
  kind: string;
  size_bytes: number;
  skill_name?: string;
  skill_description?: string;
  tools?: readonly ChatContextTool[];
  status: string;
  error?: string;
}

export interface ChatContextTool {
  name: string;
  description?: string;
}

export interface ChatCost {
  chat_id: string;
  total_cost_micros: number;
  request_count: number;
  unpriced_request_count: number;
  own_cost_micros: number;
  own_request_count: number;
  own_unpriced_request_count: number;
  beside: readonly SideCost[];
}

export interface ChatDiffStatus {
  chat_id: string;
  url?: string;
  pull_request_state?: string;
  pull_request_title: string;
  pull_request_draft: boolean;
  changes_requested: boolean;
  additions: number;
  deletions: number;
  changed_files: number;
  author_login?: string;
  author_avatar_url?: string;
  base_branch?: string;
  head_branch?: string;
  pr_number?: number;
  commits?: number;
  approved?: boolean;
  reviewer_count?: number;
  refreshed_at?: string;
  stale_at?: string;
}

export interface ChatError {
  message: string;
  detail?: string;
  kind?: string;
  provider?: string;
  retryable: boolean;
  status_code?: number;
}

export interface ChatFileMetadata {
  id: string;
  owner_id: string;
  organization_id: string;
  name: string;
  mime_type: string;
  size_bytes: number;
  created_at: string;
}

export interface ChatMessage {
  id: number;
  chat_id: string;
  created_by?: string;
  model_config_id?: string;
  created_at: string;
  role: string;
  content?: readonly ChatMessagePart[];
  usage?: ChatMessageUsage;
  cost_micros?: number | null;
  edited?: boolean;
}

export interface ChatMessagePart {
  type: string;
  text: string;
  tool_call_id?: string;
  tool_name?: string;
  mcp_server_config_id: string | null;
  args?: any;
  args_delta?: string;
  parsed_commands?: readonly (readonly string[])[];
  result?: any;
  result_bytes?: number;
  result_delta?: string;
  result_reset?: boolean;
  is_error?: boolean;
  is_media?: boolean;
  source_id?: string;
  url: string;
  title?: string;
  media_type: string;
  name?: string;
  data?: string;
  file_id: string | null;
  file_name: string;
  start_line: number;
  end_line: number;
  content: string;
  provider_executed?: boolean;
  hook_rewritten?: boolean;
  created_at?: string;
  completed_at?: string;
  context_file_path: string;
  context_file_truncated?: boolean;
  context_file_agent_id: string | null;
  skill_name: string;
  skill_description?: string;
}

export interface ChatMessageUsage {
  input_tokens?: number;
  output_tokens?: number;
  total_tokens?: number;
  reasoning_tokens?: number;
  cache_creation_tokens?: number;
  cache_read_tokens?: number;
  context_limit?: number;
}

export interface ChatMessagesResponse {
  messages: readonly ChatMessage[];
  queued_messages: readonly ChatQueuedMessage[];
  has_more: boolean;
  history_version?: number;
}

export interface ChatModel {
  id: string;
  provider: string;
  model: string;
  display_name: string;
}

export interface ChatModelConfig {
  id: string;
  organization_id: string;
  ai_provider_id: string;
  provider: string;
  model: string;
  display_name: string;
  enabled: boolean;
  is_default: boolean;
  context_limit: number;
  compression_threshold: number;
  model_config?: CallConfig;
  reasoning_efforts?: readonly string[];
  created_at: string;
  updated_at: string;
  source: string;
  warnings?: readonly string[];
}

export interface ChatModelProvider {
  provider: string;
  available: boolean;
  unavailable_reason?: string;
  models: readonly ChatModel[];
}

export interface ChatModelsResponse {
  providers: readonly ChatModelProvider[];
  unsupported_providers: readonly UnsupportedProvider[];
}

export interface ChatPrompt {
  id: number;
  text: string;
}

export interface ChatPromptsResponse {
  prompts: readonly ChatPrompt[];
}

export interface ChatQueuedMessage {
  id: number;
  chat_id: string;
  model_config_id?: string;
  content: readonly ChatMessagePart[];
  created_at: string;
  busy_behavior?: string;
}

export interface ChatSearchMatch {
  message_id: number;
  text: string;
}

export interface ChatStreamActionRequired {
  tool_calls: readonly ChatStreamToolCall[];
}

export interface ChatStreamEvent {
  type: "action_required" | "approvals" | "error" | "history_reset" | "message" | "message_part" | "preview_reset" | "queue_update" | "retry" | "status";
  chat_id: string;
  message?: ChatMessage;
  message_part?: ChatStreamMessagePart;
  status?: ChatStreamStatus;
  error?: ChatError;
  retry?: ChatStreamRetry;
  queued_messages?: readonly ChatQueuedMessage[];
  action_required?: ChatStreamActionRequired;
  approvals?: readonly ChatApproval[];
}

export interface ChatStreamMessagePart {
  role: string;
  part: ChatMessagePart;
  history_version: number;
  generation_attempt: number;
  seq: number;
  truncated?: boolean;
}

export interface ChatStreamRetry {
  attempt: number;
  delay_ms: number;
  error: string;
  kind?: string;
  provider?: string;
  status_code?: number;
  retrying_at: string;
}

export interface ChatStreamStatus {
  status: string;
}

export interface ChatStreamToolCall {
  tool_call_id: string;
  tool_name: string;
  args: string;
}

export interface ChatTitle {
  title: string;
}

export interface ChatWatchEvent {
  kind: "action_required" | "chat_summary_change" | "context_dirty" | "created" | "deleted" | "diff_status_change" | "shared" | "status_change" | "summary_change" | "title_change" | "unshared";
  chat: Chat;
}

export interface CreateChatMessageResponse {
  message?: ChatMessage;
  messages?: readonly ChatMessage[];
  queued_message?: ChatQueuedMessage;
  queued: boolean;
  warnings?: readonly string[];
}

export interface EditChatMessageResponse {
  message: ChatMessage;
  messages?: readonly ChatMessage[];
  deleted_message_ids?: readonly number[];
}

export interface GoogleProviderOptions {
  thinking_config?: GoogleThinkingSettings | null;
  cached_content?: string | null;
  safety_settings?: readonly SafetyThreshold[] | null;
  threshold?: string | null;
  web_search_enabled?: boolean | null;
  web_fetch_enabled?: boolean | null;
}

export interface GoogleThinkingSettings {
  thinking_budget?: number | null;
  thinking_level?: string | null;
  include_thoughts?: boolean | null;
}

export interface OpenAICompatProviderOptions {
  user?: string | null;
}

export interface OpenAIConfig {
  use_responses_api?: boolean | null;
}

export interface OpenAIProviderOptions {
  include?: readonly string[] | null;
  instructions?: string | null;
  logit_bias?: Record<string, any> | null;
  log_probs?: boolean | null;
  top_log_probs?: number | null;
  max_tool_calls?: number | null;
  parallel_tool_calls?: boolean | null;
  user?: string | null;
  reasoning_summary?: string | null;
  max_completion_tokens?: number | null;
  text_verbosity?: string | null;
  prediction?: Record<string, any> | null;
  store?: boolean | null;
  metadata?: Record<string, any> | null;
  prompt_cache_key?: string | null;
  safety_identifier?: string | null;
  service_tier?: string | null;
  structured_outputs?: boolean | null;
  strict_json_schema?: boolean | null;
  web_search_enabled?: boolean | null;
  search_context_size?: string | null;
  allowed_domains?: readonly string[] | null;
}

export interface OpenRouterProviderOptions {
  reasoning?: ReasoningSettings | null;
  extra_body?: Record<string, any> | null;
  include_usage?: boolean | null;
  logit_bias?: Record<string, any> | null;
  log_probs?: boolean | null;
  parallel_tool_calls?: boolean | null;
  user?: string | null;
  provider?: RoutingSettings | null;
}

export interface QueueResponse {
  queued_messages: readonly ChatQueuedMessage[];
}

export interface ReasoningEffort {
  default?: string | null;
  max?: string | null;
}

export interface ReasoningSettings {
  enabled?: boolean | null;
  exclude?: boolean | null;
  max_tokens?: number | null;
}

export interface RefusalBody {
  message: string;
  detail: string;
  validations: readonly Validation[];
  kind: string;
}

export interface RoutingSettings {
  order?: readonly string[] | null;
  allow_fallbacks?: boolean | null;
  require_parameters?: boolean | null;
  data_collection?: string | null;
  only?: readonly string[] | null;
  ignore?: readonly string[] | null;
  quantizations?: readonly string[] | null;
  sort?: string | null;
}

export interface SafetyThreshold {
  category: string;
  threshold: string;
}

export interface SideCost {
  what: string;
  cost_micros: number;
  request_count: number;
  unpriced_request_count: number;
}

export interface ThinkingSettings {
  budget_tokens?: number | null;
}

export interface UnsupportedProvider {
  provider: string;
  display_name: string;
}

export interface Validation {
  field: string;
  detail: string;
}

export interface VercelProviderOptions {
  reasoning?: ReasoningSettings | null;
  providerOptions?: VercelRoutingSettings | null;
  user?: string | null;
  logit_bias?: Record<string, any> | null;
  logprobs?: boolean | null;
  top_logprobs?: number | null;
  parallel_tool_calls?: boolean | null;
  extra_body?: Record<string, any> | null;
}

export interface VercelRoutingSettings {
  order?: readonly string[] | null;
  models?: readonly string[] | null;
}
